/** Shapes that several resources have: seconds, instants, outcomes, pages. */
import { Type } from 'typebox';

/** 100 years. */
export const secondsMax = 100 * 365.25 * 86_400;

export const seconds = (description: string) =>
  Type.Number({ minimum: 0, maximum: secondsMax, description });

export const instant = (description: string) => Type.String({ format: 'date-time', description });

export const OutcomeSchema = Type.Union([Type.Integer(), Type.String(), Type.Null()], {
  description: 'HTTP status of the newest attempt, or a word such as refused or timeout.',
});

export const FailureSchema = Type.Union([Type.String(), Type.Null()], {
  description:
    'Class of the failure of the newest attempt: 3xx, 4xx, 5xx, refused, timeout, unresolvable, tls, forbidden or cut; null: it was a success, or there was none.',
});

export const letterId = Type.String({
  description: 'Id of the dead letter of the newest pop, where that was given up.',
});

export const pageMembers = {
  cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Pass it on to get the next page; null: this was the last.',
  }),
  missing: Type.Array(Type.String(), {
    description: 'Members that did not answer; their timers may be missing from the page.',
  }),
};

export const whole = Type.Integer({ minimum: 0 });

export const measured = Type.Union([Type.Number(), Type.Null()]);

export const textOrNull = Type.Union([Type.String(), Type.Null()]);
export const wholeOrNull = Type.Union([whole, Type.Null()]);
