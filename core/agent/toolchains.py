"""Tables of what runs without a yes sees beside the project: the system, toolchains, other places, and words on those missed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from core.kernel.language import as_sentences
from core.kernel.patterns import late
from core.talk.context.globs import is_below, is_inside

# Tables of what runs without a yes sees beside the project: parts of the system, toolchains of the person,
# each with its reason.

SYSTEM = {
    "/usr": "programs, libraries, headers and data of the system",
    "/bin": "programs of the system",
    "/sbin": "programs of the system",
    "/lib": "libraries of the system",
    "/lib32": "libraries of the system",
    "/lib64": "libraries of the system, the loader of every program among them",
    "/libx32": "libraries of the system",
    "/nix": "programs of Nix",
    "/gnu": "programs of Guix",
    "/snap": "programs of Snap",
    "/home/linuxbrew": "programs of Homebrew",
    "/sys": "what the machine is: Java and Go ask it for processors and memory",
    "/var/lib/ca-certificates": "certificates of authorities, where SUSE keeps them",
    "/var/cache/fontconfig": "fonts, for what draws",
    "/var/lib/dpkg/alternatives": "which program stands for a name, on Debian",
}
"""Places of the system, whole."""

NOT_OF_SYSTEM = {
    "/usr/local/etc": "settings of what was installed by hand: npm, pip and servers keep tokens there",
    "/usr/etc": "settings of npm, tokens among them",
}
"""Places in them that are empty all the same."""

OPTIONAL = "/opt"
"""Folder of programs that bring all of theirs along: each of its folders with one of `PROGRAM_FOLDERS` is shown."""
PROGRAM_FOLDERS = ("bin", "sbin", "lib", "jre")

ETC = {
    **dict.fromkeys(("passwd", "group", "nsswitch.conf"), "names of users: git, Python and Java ask for them"),
    **dict.fromkeys(
        ("hosts", "host.conf", "hostname", "resolv.conf", "gai.conf", "services", "protocols", "networks"), "names of machines"
    ),
    **dict.fromkeys(
        ("ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/ca-trust",
         "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/java", "crypto-policies", "gnutls"),
        "certificates of authorities",
    ),
    **dict.fromkeys(("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path"), "where libraries are"),
    **dict.fromkeys(("localtime", "timezone", "locale.conf", "locale.alias", "default/locale"), "time and language"),
    **dict.fromkeys(("os-release", "lsb-release", "debian_version", "redhat-release", "alpine-release"), "which system it is"),
    **dict.fromkeys(("alternatives", "profile", "profile.d", "bash.bashrc", "inputrc", "terminfo", "shells"), "shells"),
    **dict.fromkeys(("mime.types", "magic", "fonts", "papersize", "paperspecs"), "kinds of files, fonts"),
    **dict.fromkeys(("java", "maven", "gradle", "groovy"), "Java of the system keeps its settings there"),
    **dict.fromkeys(("python3", "perl", "R", "ghc", "php", "ruby", "sbcl", "texmf", "emacs", "vim"), "languages of the system"),
    **dict.fromkeys(("OpenCL", "vulkan", "glvnd", "libva.conf"), "drivers"),
    **dict.fromkeys(("gitattributes",), "git"),
    "manpath.config": "nvm asks where manual pages are",
    "static": "NixOS links to its settings by it",
}  # fmt: skip
"""Parts of `/etc`. The rest holds keys of the machine, and settings of servers."""
ETC_BEGINNINGS = ("java-", "python3.", "php", "openjdk", "jvm-")
"""Beginnings of names there that are a version's of one of them."""
ETC_SETTINGS = ("gitconfig", "maven/settings.xml")
"""Settings of the system's tools that are shown unless they hold a key."""

TOOLCHAINS = {
    **dict.fromkeys(("bin", ".local/bin", ".bin"), "programs that the person installed"),
    **dict.fromkeys((".local/lib", ".local/include"), "packages of `pip install --user`, libraries"),
    # Python
    ".pyenv": "pyenv: versions of Python and its shims",
    **dict.fromkeys((".local/share/uv/python", ".local/share/uv/tools"), "uv: versions of Python, tools"),
    ".local/share/pipx": "pipx: environments of tools",
    ".local/pipx": "pipx, older: environments of tools",
    ".local/share/virtualenvs": "pipenv: environments of projects",
    ".virtualenvs": "virtualenvwrapper: environments of projects",
    ".cache/pypoetry/virtualenvs": "Poetry: environments of projects",
    ".local/share/pypoetry/venv": "Poetry itself",
    **dict.fromkeys((".local/share/hatch/env", ".local/share/hatch/pythons"), "Hatch: versions of Python and environments"),
    **dict.fromkeys((".rye/py", ".rye/shims", ".rye/tools", ".rye/self", ".rye/uv"), "Rye: versions of Python, tools"),
    **dict.fromkeys(
        ("miniconda3", "miniforge3", "mambaforge", "anaconda3", "micromamba", ".conda/envs", ".conda/pkgs", ".local/share/mamba"),
        "conda: environments and packages",
    ),
    # JavaScript
    ".nvm": "nvm: versions of Node",
    ".local/share/fnm": "fnm: versions of Node",
    ".fnm": "fnm, older: versions of Node",
    ".volta": "Volta: versions of Node",
    ".nodenv": "nodenv: versions of Node",
    **dict.fromkeys(("n/bin", "n/lib", "n/n", ".n/bin", ".n/lib", ".n/n"), "n: versions of Node"),
    **dict.fromkeys((".npm-global/bin", ".npm-global/lib", ".npm-packages/bin", ".npm-packages/lib"), "npm: packages for every project"),
    ".npm/_cacache": "npm: packages that it fetched, so that `npm ci` needs no network",
    ".node_modules": "packages that Node finds from anywhere",
    ".local/share/pnpm": "pnpm: packages for every project, its store",
    **dict.fromkeys((".yarn/bin", ".yarn/releases", ".yarn/berry/cache", ".config/yarn/global/node_modules"), "Yarn: packages, releases"),
    **dict.fromkeys((".bun/bin", ".bun/install"), "Bun and its packages"),
    ".deno/bin": "Deno",
    # Rust, Go, C
    ".cargo/bin": "cargo: programs, rustup's among them",
    ".cargo/registry": "cargo: sources of packages",
    ".cargo/git": "cargo: sources of packages",
    ".cargo/env": "cargo: what the shell adds to its path",
    ".rustup": "rustup: versions of Rust",
    **dict.fromkeys(("go/bin", "go/pkg"), "Go: programs and sources of packages"),
    ".goenv": "goenv: versions of Go",
    ".gvm": "gvm: versions of Go",
    ".conan2/p": "Conan: packages",
    ".vcpkg": "vcpkg",
    # Java and its kin
    ".sdkman": "SDKMAN: versions of Java, Maven, Gradle",
    ".jenv": "jenv: versions of Java",
    ".jabba": "jabba: versions of Java",
    ".jdks": "versions of Java that IntelliJ fetched",
    ".m2/repository": "Maven: packages",
    ".m2/wrapper": "Maven: versions of itself",
    ".gradle/wrapper": "Gradle: versions of itself",
    ".gradle/caches": "Gradle: packages",
    ".gradle/jdks": "Gradle: versions of Java",
    **dict.fromkeys((".ivy2/cache", ".ivy2/local", ".cache/coursier", ".sbt/boot", ".sbt/launchers"), "Scala: packages"),
    ".konan": "Kotlin: compilers",
    ".android/sdk": "Android's SDK",
    "Android/Sdk": "Android's SDK",
    # Other languages
    **dict.fromkeys((".rbenv", ".rvm", ".gem/ruby", ".local/share/gem/ruby", ".local/share/rbenv"), "Ruby: versions and packages"),
    **dict.fromkeys((".dotnet/dotnet", ".dotnet/sdk", ".dotnet/shared", ".dotnet/host", ".dotnet/packs", ".dotnet/tools", ".dotnet/sdk-manifests", ".nuget/packages"), ".NET: versions and packages"),
    **dict.fromkeys((".ghcup", ".cabal/bin", ".cabal/packages", ".cabal/store", ".stack/programs", ".stack/snapshots", ".local/state/cabal"), "Haskell"),
    **dict.fromkeys((".opam",), "OCaml"),
    **dict.fromkeys((".juliaup", ".julia/packages", ".julia/artifacts", ".julia/compiled", ".julia/registries"), "Julia"),
    **dict.fromkeys((".composer/vendor", ".config/composer/vendor", ".phpenv"), "PHP: packages"),
    **dict.fromkeys((".mix/archives", ".mix/elixir", ".hex/packages", ".asdf", ".local/share/mise", ".local/share/rtx", ".kerl", ".kiex"), "versions of languages"),
    **dict.fromkeys((".elan", ".nimble", ".choosenim", ".zvm", ".swiftly", ".pub-cache", "flutter", ".fvm", ".tfenv", ".luarocks", ".perlbrew", "perl5", ".plenv", ".krew/bin", ".linuxbrew", ".nix-profile", ".guix-profile", ".local/state/nix"), "versions of languages, packages"),
    ".cache/ms-playwright": "browsers of Playwright, for tests",
    ".cache/puppeteer": "browsers of Puppeteer, for tests",
    ".cache/pre-commit": "pre-commit: its tools",
    ".terminfo": "terminals",
    ".fonts": "fonts",
    ".local/share/fonts": "fonts",
}  # fmt: skip
"""Folders and files below the person's own folder that are code of tools. Their credentials stand elsewhere: `~/.cargo/credentials.toml`,
`~/.npmrc`, `~/.m2/settings.xml`, `~/.gradle/gradle.properties`, `~/.config`."""

MOVED = {
    "PYENV_ROOT": ".pyenv",
    "WORKON_HOME": ".virtualenvs",
    "PIPX_HOME": ".local/share/pipx",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "UV_TOOL_DIR": ".local/share/uv/tools",
    "NVM_DIR": ".nvm",
    "FNM_DIR": ".local/share/fnm",
    "VOLTA_HOME": ".volta",
    "NODENV_ROOT": ".nodenv",
    "N_PREFIX": "n",
    "PNPM_HOME": ".local/share/pnpm",
    "BUN_INSTALL": ".bun",
    "DENO_INSTALL": ".deno",
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "GOPATH": "go",
    "GOENV_ROOT": ".goenv",
    "SDKMAN_DIR": ".sdkman",
    "GRADLE_USER_HOME": ".gradle",
    "RBENV_ROOT": ".rbenv",
    "NUGET_PACKAGES": ".nuget/packages",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "PUB_CACHE": ".pub-cache",
    "OPAMROOT": ".opam",
    "STACK_ROOT": ".stack",
    "CABAL_DIR": ".cabal",
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
}
"""Variables by which a tool's folder stands elsewhere than below the person's own folder, and what stands there else: the same parts
of it are shown, and what runs is told the variable.
"""

WITHOUT_REPOSITORY = {"GOFLAGS": "-buildvcs=false"}
"""Go takes the empty folder that keeps `.git` from being made for a repository that is broken, and builds nothing.

Source: go 1.19 and later, `go help build`, `-buildvcs` (tried 2026-11-29).
"""

NOT_OF_TOOLCHAINS = {
    **dict.fromkeys(
        (".nvm/versions/node/*/etc", ".local/share/fnm/node-versions/*/installation/etc", ".fnm/node-versions/*/installation/etc",
         ".volta/tools/image/node/*/etc", ".nodenv/versions/*/etc", ".asdf/installs/nodejs/*/etc", ".local/share/mise/installs/node/*/etc"),
        "npm's settings for every project, tokens among them",
    ),
    **dict.fromkeys((".pyenv/versions/*/pip.conf", ".virtualenvs/*/pip.conf", ".local/share/virtualenvs/*/pip.conf"), "pip's settings, tokens among them"),
    **dict.fromkeys((".sdkman/candidates/maven/*/conf/settings.xml", ".asdf/installs/maven/*/conf/settings.xml"), "Maven's settings, passwords among them"),
    **dict.fromkeys((".asdf/installs/*/*/etc/pip.conf", ".local/share/mise/installs/python/*/pip.conf"), "pip's settings, tokens among them"),
}  # fmt: skip
"""Places in them, as patterns, that are empty all the same."""

SETTINGS_WITH_KEYS = frozenset(
    (".env", ".env.local", ".npmrc", ".yarnrc.yml", ".netrc", "_netrc", ".pypirc", ".git-credentials", ".htpasswd", "credentials",
     "credentials.json", "credentials.toml", "auth.json", "auth.toml")
)  # fmt: skip
"""Names of settings that are empty in the upper folders of a toolchain too, whatever stands in them: plugins, global packages and
caches keep tokens there.
"""

SETTINGS_OF_TOOLS = {
    ".config/git/ignore": "git: what it leaves out",
    ".config/git/attributes": "git: kinds of files",
    ".gitignore": "git: what it leaves out, by a usual name",
    ".gitignore_global": "git: what it leaves out, by a usual name",
    ".cargo/config.toml": "cargo: how it builds, where it fetches from",
    ".cargo/config": "cargo, older",
    ".config/pip/pip.conf": "pip: where it fetches from",
    ".pip/pip.conf": "pip, older",
    ".config/uv/uv.toml": "uv: where it fetches from",
    ".config/go/env": "go: how it builds, where it fetches from",
    ".condarc": "conda: where it fetches from",
    ".config/rustfmt": "rustfmt: how it formats",
    ".clang-format": "clang-format: how it formats",
    ".editorconfig": "editors: how they format",
}
"""Settings of tools below the person's own folder that are shown, unless a file of them holds a key."""

GIT_SETTINGS = (".gitconfig", ".config/git/config")
"""The person's settings of git: shown as a copy without what could be a key (`core.agent.closed_view`)."""


def moved(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of tools' folders that are set to an absolute place."""
    return {name: environ[name] for name in MOVED if os.path.isabs(environ.get(name, ""))}


def places_of(name: str, home: str, folders: Mapping[str, str]) -> tuple[str, ...]:
    """Places where a part of a tool's folder may stand: below the person's own folder, and where a variable says.

    Args:
        folders: by their variables, as `moved` gives them.
    """
    elsewhere = (
        os.path.join(folder, name[len(MOVED[variable]) :].lstrip("/")).rstrip("/")
        for variable, folder in folders.items()
        if name == MOVED[variable] or name.startswith(f"{MOVED[variable]}/")
    )
    return tuple(dict.fromkeys((os.path.join(home, name), *elsewhere)))


# Places that are seen by what runs without a yes for this very call, and words on those that it missed.


class ClosedView(msgspec.Struct, frozen=True):
    """Places beyond the project, absolute; all but the home are read-only.

    Args:
        home: the person's own folder, links resolved: empty; what is written there ends with the sandbox.
        mounts: what is shown, and where; links: places that lead elsewhere, and where to.
        masked: in what is shown, and empty.
    """

    home: str
    mounts: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    masked: tuple[str, ...] = ()

    def shows(self, path: str) -> bool:
        """True for a path, links resolved, that is seen as it is."""
        return is_below(path, [place for _, place in self.mounts]) and not is_below(path, self.masked)


_PATH = late(r"(?<![\w.:/~-])(?:file://)?((?:~|/)[\w.@+~=-]*(?:/[\w.@+~=-]+)+)")
_NO_PROGRAM = late(r"(?:line \d+: |^)([\w.+-]+): (?:command )?not found", re.MULTILINE)
_MOST_NAMED = 3
_OF_SANDBOX = ("/dev", "/proc", "/tmp", "/run", "/sys", "/etc")  # noqa: S108
"""Places that are its own, or of which nothing more is shown."""


def missed_note(output: str, exit_code: int | None, view: ClosedView | None, root: str) -> str:
    """Sentences that name folders which a failed command may have needed, and the way to them. Empty without such a sign.

    Nothing is looked up but programs on the search path, and what it could see: whether another file is there stays unknown.

    Args:
        output: its end, as it wrote it; exit_code: None where it was ended; view: what it saw, None: the whole machine.
    """
    if not exit_code:
        return ""
    return as_sentences(_missed_words(output, view, root), _sealed_words(output, root))


def _sealed_words(output: str, root: str) -> str:
    """Words on what is not there in the folder of a toolchain. A command can see such a folder and not write to it, whoever said
    yes: Maven's error on `install` says only that a file is not there.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    folders = [os.path.join(home, one) for one in TOOLCHAINS]
    paths = (os.path.normpath(os.path.expanduser(found[1])) for found in _PATH.finditer(output))
    sealed = (
        one for one in paths if is_below(one, folders) and not (is_inside(one, root) or os.path.lexists(one))
    )
    named = ", ".join(islice(dict.fromkeys(sealed), _MOST_NAMED))
    return (
        f"No command can make {named}, for commands only read folders of toolchains. Most tools take a folder in the project instead, "
        "by an option or a variable"
        if named
        else ""
    )


def _missed_words(output: str, view: ClosedView | None, root: str) -> str:
    if view is None:
        return ""
    missed = tuple(islice(dict.fromkeys(_missed(output, view, root)), _MOST_NAMED))
    if not missed:
        return ""
    named = ", ".join(missed)
    return (
        f"No person was asked about this command, so it saw the project, the system, toolchains and an empty home, and not {named}. "
        f"A command that names such a place asks the person. They show one to every command here: Settings, Permissions, in the "
        f"folder {root}, Places that are shown (`shown` under [tools.folders] in the user settings)"
    )


def _missed(output: str, view: ClosedView, root: str) -> Iterator[str]:
    for found in _NO_PROGRAM.finditer(output):
        yield from _program_places(found[1], view, root)
    for found in _PATH.finditer(output):
        path = os.path.normpath(
            os.path.join(view.home, found[1][2:]) if found[1].startswith("~/") else found[1]
        )
        if is_inside(path, root) or view.shows(path):
            continue
        is_own = is_below(path, (*SYSTEM, *_OF_SANDBOX)) or not os.path.isdir(f"/{path.split('/')[1]}")
        if is_inside(path, view.home) or not is_own:
            yield path


def _program_places(name: str, view: ClosedView, root: str) -> Iterator[str]:
    for folder in filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)):
        place = os.path.realpath(os.path.join(folder, name))
        if os.access(place, os.X_OK) and not (view.shows(place) or is_inside(place, root)):
            yield os.path.dirname(place)
