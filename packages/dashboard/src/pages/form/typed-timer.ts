/** A timer as it stands in the form: mostly text, as typed. */

export interface TypedHeader {
  readonly name: string;
  readonly value: string;
}

export interface TypedTimer {
  readonly kind: 'interval' | 'at' | 'cron';
  readonly interval: string;
  /** Local time, as the browser's field gives it. */
  readonly at: string;
  readonly cron: string;
  readonly timezone: string;
  readonly ending: 'once' | 'count' | 'for' | 'until' | 'forever';
  readonly count: string;
  readonly repeatFor: string;
  /** Local time. */
  readonly until: string;
  readonly uri: string;
  readonly method: string;
  readonly headers: readonly TypedHeader[];
  readonly timeout: string;
  readonly batch: boolean;
  readonly opaque: string;
  readonly retryLimit: string;
  readonly retryBase: string;
  readonly retryMaxWait: string;
  readonly retryMaxAttempts: string;
  readonly tags: readonly string[];
  /** A tag that is being typed. */
  readonly tag: string;
  readonly factor: string;
  readonly kept: Kept;
}

/** The parts of a timer that the form does not show; it passes them on. */
export interface Kept {
  /** Instants by their local texts: an hour that comes twice in autumn has one text for two instants. */
  readonly instants: Readonly<Record<string, string>>;
  readonly body: object;
  readonly callback: object;
  readonly http: object;
}

export const blank: TypedTimer = {
  kind: 'interval',
  interval: '10s',
  at: '',
  cron: '',
  timezone: '',
  ending: 'once',
  count: '5',
  repeatFor: '1h',
  until: '',
  uri: '',
  method: 'POST',
  headers: [],
  timeout: '',
  batch: false,
  opaque: '',
  retryLimit: '',
  retryBase: '',
  retryMaxWait: '',
  retryMaxAttempts: '',
  tags: [],
  tag: '',
  factor: '',
  kept: { instants: {}, body: {}, callback: {}, http: {} },
};

export interface FieldProps {
  readonly typed: TypedTimer;
  readonly change: (part: Partial<TypedTimer>) => void;
}
