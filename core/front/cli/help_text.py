"""The help of the program, as the grammar says it. Written by `make docs`."""

HELP = """\
usage: manual-slop [-h] [--home DIR] [--project DIR] [--set KEY=VALUE]
                   [--json] [-V] [--headless] [--hooks] [--approvals-fd N]
                   [--test-clock]
                   command ...

A desktop workbench for work with language models.

options:
  -h, --help        show this help message and exit
  --home DIR        the folder with all your data (~/.manual_slop)
  --project DIR     the folder to work in (default: the current folder)
  --set KEY=VALUE   change a setting for this run; may be repeated
  --json            print JSON, for programs
  -V, --version     show the version and exit
  --headless        run without a window until you stop the program
  --hooks           let other programs on this computer use the Hook API
                    (docs/openapi.json)
  --approvals-fd N  with --headless --hooks: write a token for approvals into
                    the pipe with this descriptor
  --test-clock      let tests put the clock forward through the Hook API

commands:
  command
    tour            show a tour, in which the program operates the real window
                    itself
    send            send one message and print the reply while it arrives
    context         print the context of the next request, and the length of
                    its stable prefix
    why             explain a discussion's cache misses, and estimate the cost
                    of its next message
    discussions     list, read, export and organize discussions
    presets         list the project's context presets, personas and system
                    prompts
    models          list providers and their models
    usage           show the tokens and the cost of your requests
    doctor          check your installation, settings and folders, and suggest
                    remedies
    desktop         add the program to the desktop's menu, or remove the menu
                    entry
    import          turn conversations from other programs into discussions
    mcp             give another program access to your knowledge, as an MCP
                    server (stdio)
    autonomy        show the state of the autonomous discussion, or stop the
                    discussion
    search          search notes, knowledge, past discussions and project
                    files
    index           maintain the index files of your notes (index.md in each
                    folder)
    forget          forget a conversation or an item of knowledge; you cannot
                    undo this
    secrets         find keys, tokens and passwords in your home, and remove
                    them
    backup          write all your data to one backup file
    restore         replace your home by a backup, after your yes
    harvest         turn old conversations into knowledge, and move them to
                    the trash
    knowledge       show, search and check your knowledge
    trust           show what a folder's manual_slop.toml asks for, and trust
                    the folder after your yes
    servers         list MCP servers, add servers from JSON, or approve one on
                    this terminal
    key             store or remove a provider's key
    help            show the help of a command
    completion      print a script with which your shell completes commands
                    and options

exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted
with --json, an error is {"error": {"code", "message", "remedy", "where"}} on standard output

examples:
  manual-slop                                     open the window
  manual-slop send "Why is the sky blue?"         send a message in a new discussion
  git diff | manual-slop send "Review this" --preset core
  manual-slop send "And at night?" --discussion last
  manual-slop context --text                      print the context of the next request
  manual-slop doctor                              check installation and settings
"""
