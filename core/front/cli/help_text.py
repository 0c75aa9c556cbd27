"""The help of the program, as the grammar says it. Written by `make docs`."""

HELP = """\
usage: manual-slop [-h] [--home DIR] [--project DIR] [--set KEY=VALUE]
                   [--json] [-V] [--headless] [--hooks] [--approvals-fd N]
                   [--test-clock]
                   command ...

A desktop workbench for curated sessions with language models.

options:
  -h, --help        show this help message and exit
  --home DIR        where your data lives (~/.manual_slop)
  --project DIR     the folder to work in (the current one)
  --set KEY=VALUE   a setting for this run; may be repeated
  --json            print JSON, for programs
  -V, --version     show the version and exit
  --headless        run without a window until stopped
  --hooks           let your other programs use it over loopback HTTP
                    (docs/openapi.json)
  --approvals-fd N  with --headless --hooks: write a token that may approve to
                    this descriptor, a pipe
  --test-clock      let tests put the clock forward over HTTP

commands:
  command
    tour            drive the real window through its main job
    send            send one message and print the reply as it comes
    context         print the stack that a model would see, and the length of
                    its stable prefix
    why             tell why a discussion's cache was missed, and what its
                    next message will cost
    discussions     list, read, export and order discussions
    presets         list the project's context presets, personas and system
                    prompts
    models          list providers and their models
    usage           add up what calls have used and cost
    doctor          check what is installed, found, configured and writable,
                    with remedies
    desktop         put the program into the desktop's menu, with icon, manual
                    page and completion, or take it out
    import          make discussions of conversations from other programs
    mcp             serve what is known to another program, over the Model
                    Context Protocol (stdio)
    autonomy        print how the autonomous discussion of the running program
                    stands, or stop it
    search          search notes, knowledge, past discussions and project
                    files
    index           keep the index files of your notes (index.md in each
                    folder)
    forget          forget a conversation or an item of knowledge, with a
                    receipt; it cannot be undone
    secrets         look for keys, tokens and passwords in all that we keep,
                    and take them out
    backup          write everything that is yours here to one archive
    restore         put a backup in the place of what is here, after a yes
    harvest         distil old conversations into knowledge and reclaim them
    knowledge       show, search and audit what is known
    trust           let what a folder's manual_slop.toml asks for count, after
                    showing it
    servers         list MCP servers, add some from JSON, and approve one
                    after its questions on this terminal
    key             keep or remove a provider's key
    help            show the help of a command
    completion      print a script that lets a shell complete commands and
                    options

exit codes: 0 well, 1 failed, 2 wrong usage, 130 interrupted
with --json an error is {"error": {"code", "message", "remedy", "where"}} on standard output

examples:
  manual-slop                                     open the window
  manual-slop send "Why is the sky blue?"         one turn in a new discussion
  git diff | manual-slop send "Review this" --preset core
  manual-slop send "And at night?" --discussion last
  manual-slop context --text                      what a model would see
  manual-slop doctor                              what is installed, found and configured
"""
