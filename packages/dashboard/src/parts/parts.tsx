/** Small pieces that several views share. */
import { sentenceOf } from '@carillon/core';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { percent } from '../format.ts';

export function Panel(props: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  return (
    <section class={`panel ${props.class ?? ''}`}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        {props.note === undefined ? null : <span class="note">{props.note}</span>}
      </header>
      {props.children}
    </section>
  );
}

const tones: Readonly<Record<string, string>> = {
  active: 'good',
  pending: 'good',
  joining: 'warn',
  leaving: 'warn',
  retrying: 'warn',
  failing: 'bad',
  dead: 'bad',
  silent: 'bad',
  ended: 'quiet',
  wrong: 'bad',
  look: 'warn',
  note: 'quiet',
};

export function Badge({ word }: { readonly word: string }) {
  return <span class={`badge ${tones[word] ?? 'quiet'}`}>{word}</span>;
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** The head of a column; columns of numbers stand at the right. */
export type Head = string | { readonly right: string };

/** A table that scrolls by itself where it is wider than the page. */
export function Table(props: {
  readonly heads: readonly Head[];
  readonly children: ComponentChildren;
}) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {props.heads.map((head) =>
              typeof head === 'string' ? (
                <th key={head}>{head}</th>
              ) : (
                <th key={head.right} class="right">
                  {head.right}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

/** A share as a bar and a number. `expected` is marked on the bar. */
export function Share(props: {
  /** null: not known. */
  readonly ratio: number | null;
  readonly expected?: number;
}) {
  const { ratio, expected } = props;
  return (
    <span class="share">
      <svg class="share-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="8" />
        <rect class="fill" width={Math.min(100, (ratio ?? 0) * 100)} height="8" />
        {expected === undefined ? null : (
          <rect class="mark" x={Math.min(99, expected * 100)} width="1" height="8" />
        )}
      </svg>
      <span class="number">{ratio === null ? '–' : percent(ratio)}</span>
    </span>
  );
}

/** The members whose part of a list or count is missing. */
export function Missing(props: { readonly names: readonly string[]; readonly of: string }) {
  const names = [...new Set(props.names)].join(', ');
  if (names === '') return null;
  return (
    <p class="note">
      {names} did not answer; {props.of} may be missing here.
    </p>
  );
}

export function Wrong({ says }: { readonly says: string | null }) {
  return says === null ? null : (
    <p class="wrong" role="alert">
      {says}
    </p>
  );
}

/** A button that asks once more before it does something that cannot be undone, and shows the result. */
export function Action(props: {
  readonly label: string;
  readonly confirm?: string;
  readonly class?: string;
  readonly run: () => Promise<void>;
}) {
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const press = async (): Promise<void> => {
    if (props.confirm !== undefined && !asked) return setAsked(true);
    setBusy(true);
    setError(null);
    try {
      await props.run();
    } catch (cause) {
      setError(sentenceOf(cause));
    }
    setBusy(false);
    setAsked(false);
  };
  return (
    <span class="action">
      <button
        type="button"
        class={`button ${asked ? 'danger' : (props.class ?? '')}`}
        disabled={busy}
        onClick={() => void press()}
        onBlur={() => setAsked(false)}
      >
        {asked ? props.confirm : props.label}
      </button>
      <Wrong says={error} />
    </span>
  );
}

export function Loading() {
  return <p class="loading">Asking the member …</p>;
}
