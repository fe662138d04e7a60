/**
 * A command of the binary. Each command has a file that exports one `Command`; `commands.ts` lists them and `main.ts`
 * runs them. Commands are plain functions of arguments and `Io`, so tests run them in-process.
 */

/** Exit codes, the same for every command. */
export const exit = {
  done: 0,
  /** The work failed: the cluster said no, could not be reached, or a check found something. */
  failed: 1,
  /** The command line is not understood; one sentence shows the right form. */
  usage: 2,
  /** Stopped by Ctrl-C or SIGTERM before the work was done. */
  interrupted: 130,
} as const;

/** The world of a command. `serve` and `dev` also run processes and sockets; the rest needs nothing else. */
export interface Io {
  /** The result, for people or (`--json`) programs. Whole lines; the last newline is added. */
  out(text: string): void;
  /** Errors and progress. Whole lines; the last newline is added. */
  err(text: string): void;
  /** Whether `out` ends at a terminal. */
  readonly terminal: boolean;
  /** Width of the terminal at which `out` ends; undefined: it ends elsewhere. */
  readonly columns?: number | undefined;
  /** Whether `out` ends at a terminal that shows colours. */
  readonly color: boolean;
  /** The same of `err`: either may be redirected alone. */
  readonly errColor: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, read only by commands that are told to. */
  readonly input: AsyncIterable<string | Uint8Array>;
  /** Aborts on the first Ctrl-C or SIGTERM: finish soon, tidily. */
  readonly signal: AbortSignal;
}

export interface Command {
  /** One word, as typed after `carillon`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The help text: how to call it and every flag. `--help` prints it, then the examples. */
  readonly usage: string;
  /** Flags that take one of a few values, with these values, for completion. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Whole command lines, each one that works as it stands. */
  readonly examples: readonly string[];
  /** Resolves with the exit code. Throws UsageError for a wrong command line. */
  run(args: readonly string[], io: Io): Promise<number>;
}

/** A command before it is loaded. */
export interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** A command line that is not understood. The message is one sentence that shows the right form. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
