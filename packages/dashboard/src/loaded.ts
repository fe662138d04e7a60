/** Data that is fetched when a view is shown, and again every so often while it stays. */
import { sentenceOf } from '@carillon/core';
import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  /** undefined until the first answer. */
  readonly data: T | undefined;
  readonly error: string | null;
  readonly again: () => void;
}

/** `key` names the loaded data: when it changes, loading starts anew. */
export function useLoaded<T>(key: string, load: () => Promise<T>, everyMs: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; data: T | undefined; error: string | null }>({
    key,
    data: undefined,
    error: null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let over = false;
    let timeout: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      try {
        const data = await load();
        if (!over) setState({ key, data, error: null });
      } catch (cause) {
        if (!over) setState((known) => ({ ...known, key, error: sentenceOf(cause) }));
      }
      if (!over) timeout = setTimeout(() => void run(), everyMs);
    };
    void run();
    return () => {
      over = true;
      clearTimeout(timeout);
    };
  }, [key, round]);
  const fresh = state.key === key;
  return {
    data: fresh ? state.data : undefined,
    error: fresh ? state.error : null,
    again: () => setRound((n) => n + 1),
  };
}
