/** Runs a command line as a process would, against a member that answers by script. */
import { release } from '../index.ts';
import { run } from '../run.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from './world.ts';

export interface RunCommand {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
  /** Requests that the member got. */
  readonly asked: readonly Asked[];
}

/** The member is there for as long as the command runs. `input`: its standard input. */
export async function runCommand(
  args: readonly string[],
  script: (asked: Asked) => Answer = () => ({}),
  input: readonly string[] = [],
): Promise<RunCommand> {
  const member = await fakeMember(script);
  try {
    const io = recordingIo({ CARILLON_SERVER: member.url }, false, false, input);
    const code = await run(args, io, release);
    return { code, out: io.outLines, err: io.errLines, asked: member.asked };
  } finally {
    member.close();
  }
}
