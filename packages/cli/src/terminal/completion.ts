/**
 * `carillon completion`: scripts that make a shell complete commands, sub-commands, flags and values. Made from the
 * help texts.
 */
import { type Command, type Entry, exit, type Io, UsageError } from '../command.ts';

const shells = { bash, zsh, fish } as const;

interface Words {
  readonly name: string;
  readonly summary: string;
  readonly subcommands: readonly string[];
  readonly flags: readonly string[];
  /** Of flags that take one of a few. */
  readonly values: Readonly<Record<string, readonly string[]>>;
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
      const { usage, values = {} } = await load();
      const found = usage.matchAll(/(?<![\w-])--[a-z][a-z-]*/g);
      const flags = [...new Set([...found].map(([flag]) => flag)), '--help'];
      return { name, summary, subcommands: subcommandsOf(name, usage), flags, values };
    }),
  );
}

/** Words in small letters right behind the command, in the lines that say how to call it. */
function subcommandsOf(name: string, usage: string): string[] {
  const [calls = ''] = usage.split('\n\n', 1);
  const call = `carillon ${name} `;
  return calls
    .split('\n')
    .map((line) => line.slice(line.indexOf(call) + call.length).split(' ', 1)[0] ?? '')
    .filter((word) => /^[a-z][a-z|-]*$/.test(word))
    .flatMap((word) => word.split('|'));
}

/** Every flag with values, for all commands alike: no two mean something else by the same one. */
function valuesOf(words: readonly Words[]): [string, readonly string[]][] {
  return [...new Map(words.flatMap(({ values }) => Object.entries(values)))];
}

function bash(words: readonly Words[]): string {
  const cases = words.map(
    ({ name, flags, subcommands }) =>
      `    ${name}) flags="${flags.join(' ')}"; verbs="${subcommands.join(' ')}" ;;`,
  );
  const values = valuesOf(words).map(
    ([flag, some]) =>
      `    ${flag}) COMPREPLY=($(compgen -W "${some.join(' ')}" -- "$word")); return ;;`,
  );
  return `_carillon() {
  local word="\${COMP_WORDS[COMP_CWORD]}" flags="" verbs=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"));
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ]; then COMPREPLY=($(compgen -W "$verbs" -- "$word"));
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _carillon carillon`;
}

function zsh(words: readonly Words[]): string {
  const quoted = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
  const names = words.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = words.map(({ name, flags }) => `    ${name}) compadd -- ${flags.join(' ')} ;;`);
  const verbs = words
    .filter(({ subcommands }) => subcommands.length > 0)
    .map(
      ({ name, subcommands }) => `      ${name}) compadd -- ${subcommands.join(' ')}; return ;;`,
    );
  const values = valuesOf(words).map(
    ([flag, some]) => `    ${flag}) compadd -- ${some.join(' ')}; return ;;`,
  );
  return `#compdef carillon
_carillon() {
  local -a names=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command names; return; fi
  case "$words[CURRENT-1]" in
${values.join('\n')}
  esac
  if (( CURRENT == 3 )) && [[ "$words[CURRENT]" != -* ]]; then
    case "$words[2]" in
${verbs.join('\n')}
    esac
  fi
  if [[ "$words[CURRENT]" != -* ]]; then _files; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _carillon carillon`;
}

function fish(words: readonly Words[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = words.flatMap(({ name, summary, flags, subcommands, values }) => {
    const here = `complete -c carillon -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c carillon -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(subcommands.length > 0 ? [`${here} -f -a ${quoted(subcommands.join(' '))}`] : []),
      ...flags.map((flag) => {
        const some = values[flag];
        return `${here} -l ${flag.slice(2)}${some === undefined ? '' : ` -x -a ${quoted(some.join(' '))}`}`;
      }),
    ];
  });
  return lines.join('\n');
}
