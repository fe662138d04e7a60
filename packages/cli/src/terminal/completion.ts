/** `carillon completion`: scripts that make a shell complete commands and flags. Made from the help texts. */
import { type Command, type Entry, exit, type Io, UsageError } from '../command.ts';

const shells = { bash, zsh, fish } as const;

interface Words {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

/** Completes the given commands. */
export function completionOf(entries: readonly Entry[]): Command {
  return { ...described, run: (args, io) => print(entries, args, io) };
}

const described = {
  name: 'completion',
  summary: 'Print a script for shell completion.',
  usage: `Usage: carillon completion bash|zsh|fish

  --json           The commands and their flags as JSON instead`,
  examples: [
    'source <(carillon completion bash)',
    'carillon completion zsh > ~/.zfunc/_carillon',
    'carillon completion fish > ~/.config/fish/completions/carillon.fish',
  ],
};

async function print(entries: readonly Entry[], args: readonly string[], io: Io): Promise<number> {
  const [shell, extra] = args.filter((arg) => arg !== '--json');
  const words = await wordsOf(entries);
  if (args.includes('--json') && shell === undefined) {
    io.out(JSON.stringify(words));
    return exit.done;
  }
  if (shell === undefined || extra !== undefined || !Object.hasOwn(shells, shell)) {
    throw new UsageError('Name one shell: bash, zsh or fish.');
  }
  io.out(shells[shell as keyof typeof shells](words));
  return exit.done;
}

function wordsOf(entries: readonly Entry[]): Promise<Words[]> {
  return Promise.all(
    entries.map(async ({ name, summary, load }) => {
      const { usage } = await load();
      const found = usage.matchAll(/(?<![\w-])--[a-z][a-z-]*/g);
      return { name, summary, flags: [...new Set([...found].map(([flag]) => flag)), '--help'] };
    }),
  );
}

function bash(words: readonly Words[]): string {
  const cases = words.map(({ name, flags }) => `    ${name}) flags="${flags.join(' ')}" ;;`);
  return `_carillon() {
  local word="\${COMP_WORDS[COMP_CWORD]}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"));
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _carillon carillon`;
}

function zsh(words: readonly Words[]): string {
  const quoted = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
  const names = words.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = words.map(({ name, flags }) => `    ${name}) compadd -- ${flags.join(' ')} ;;`);
  return `#compdef carillon
_carillon() {
  local -a names=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command names; return; fi
  if [[ "$words[CURRENT]" != -* ]]; then _files; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _carillon carillon`;
}

function fish(words: readonly Words[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = words.flatMap(({ name, summary, flags }) => [
    `complete -c carillon -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...flags.map(
      (flag) => `complete -c carillon -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`,
    ),
  ]);
  return lines.join('\n');
}
