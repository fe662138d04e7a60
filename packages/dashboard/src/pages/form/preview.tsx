/** The next pops of the typed timing, as the member works them out, in its zone and in UTC. */
import { sentenceOf } from '@carillon/core';
import { useEffect, useState } from 'preact/hooks';
import { previewTiming } from '../../api.ts';
import type { PreviewShape } from '../../parts/shapes.ts';
import { timingOf } from './timing.ts';
import type { TypedTimer } from './typed-timer.ts';

/** After the last key. */
const waitMs = 300;

interface Shown {
  readonly preview: PreviewShape | null;
  readonly wrong: string | null;
}

export function Preview({ typed }: { readonly typed: TypedTimer }) {
  const [{ preview, wrong }, setShown] = useState<Shown>({ preview: null, wrong: null });
  const timing = timingOf(typed);
  const asked = JSON.stringify(timing);
  useEffect(() => {
    if (typeof timing === 'string') {
      setShown({ preview: null, wrong: null });
      return undefined;
    }
    let over = false;
    const zone = timing.cron === undefined ? browserZone() : null;
    const ask = async (): Promise<void> => {
      try {
        const found = await previewTiming(timing, zone);
        if (!over) setShown({ preview: found, wrong: null });
      } catch (cause) {
        if (!over) setShown({ preview: null, wrong: sentenceOf(cause) });
      }
    };
    const timeout = setTimeout(() => void ask(), waitMs);
    return () => {
      over = true;
      clearTimeout(timeout);
    };
  }, [asked]);
  return (
    <section class="preview" aria-label="Next pops" aria-live="polite">
      {wrong === null ? null : <p class="wrong">{wrong}</p>}
      {preview === null ? null : <Pops preview={preview} />}
    </section>
  );
}

function Pops({ preview: { timezone, pops, more } }: { readonly preview: PreviewShape }) {
  const isUtc = timezone === 'UTC';
  return (
    <>
      <h3>{pops.length === 1 ? 'It pops' : `The next ${pops.length} pops`}</h3>
      <table class="plain">
        <thead>
          <tr>
            {isUtc ? null : <th>{timezone}</th>}
            <th>UTC</th>
          </tr>
        </thead>
        <tbody>
          {pops.map(({ due, local }) => (
            <tr key={due}>
              {isUtc ? null : <td class="number">{shown(local)}</td>}
              <td class="number">{shown(due)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">{more ? 'More follow.' : 'Then it ends.'} As if it were set now.</p>
    </>
  );
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `Mon 2026-11-16 09:00 +01:00`: the day and time that the text itself says, with seconds where there are some. */
function shown(text: string): string {
  const day = text.slice(0, 10);
  const offset = text.endsWith('Z') ? '' : ` ${text.slice(23)}`;
  const time = text.slice(11, 23).replace(/(:00)?\.000$/, '');
  return `${weekdays[new Date(day).getUTCDay()] ?? ''} ${day} ${time}${offset}`;
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
