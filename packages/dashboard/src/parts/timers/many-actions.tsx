/** Buttons that deliver or drop the chosen dead letters, or all that match, with progress and result. */
import { useRef, useState } from 'preact/hooks';
import { count, counted } from '../../format.ts';
import { actOnMany, type Progress } from './many.ts';
import { Action, Wrong } from '../parts.tsx';

export interface ManyProps {
  /** Ids on this page. */
  readonly here: readonly string[];
  readonly chosen: ReadonlySet<string>;
  /** How many match in all; null: not known. */
  readonly total: number | null;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
  /** The ids of all that match. */
  readonly all: () => Promise<readonly string[]>;
  readonly deliver: (id: string) => Promise<void>;
  readonly drop: (id: string) => Promise<void>;
  readonly ended: () => void;
}

interface Work {
  readonly verb: string;
  readonly progress: Progress;
  readonly isOver: boolean;
}

export function Many(props: ManyProps) {
  const { here, chosen, total, choose } = props;
  const [work, setWork] = useState<Work | null>(null);
  const stop = useRef(false);
  const run = (verb: string, act: (id: string) => Promise<void>) => async (): Promise<void> => {
    stop.current = false;
    const ids = chosen.size > 0 ? [...chosen] : await props.all();
    const told = (progress: Progress): void => setWork({ verb, progress, isOver: false });
    const result = await actOnMany(ids, act, told, () => stop.current);
    setWork({ verb, progress: result, isOver: true });
    props.ended();
  };
  const which = chosen.size > 0 ? `the ${count(chosen.size)} chosen` : `all ${of(total)}`;
  // The result stays after the last letter has gone.
  const shown = work === null ? null : <Shown work={work} stop={() => (stop.current = true)} />;
  if (here.length === 0) return shown;
  return (
    <div class="many">
      <label>
        <input
          type="checkbox"
          checked={here.every((id) => chosen.has(id))}
          onChange={(event) => choose(here, event.currentTarget.checked)}
        />
        Choose this page
      </label>
      <Action label={`Deliver ${which} again`} run={run('sent again', props.deliver)} />
      <Action
        label={`Drop ${which}`}
        confirm={`Really drop ${which}`}
        run={run('dropped', props.drop)}
      />
      {shown}
    </div>
  );
}

function of(total: number | null): string {
  return total === null ? 'that match' : count(total);
}

function Shown({ work, stop }: { readonly work: Work; readonly stop: () => void }) {
  const { verb, progress, isOver } = work;
  const { total, done, failed, why } = progress;
  return (
    <div class="many-result">
      {isOver ? null : (
        <p class="row">
          <progress max={total} value={done + failed} aria-label="Progress" />
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        </p>
      )}
      <p role="status">
        {count(done)} of {counted(total, 'letter')} {verb}
        {failed === 0 ? '' : `, ${count(failed)} not`}
        {isOver ? '.' : ' …'}
        {isOver && verb === 'sent again' ? ' Letters that fail again come back here.' : ''}
      </p>
      <Wrong says={why} />
    </div>
  );
}
