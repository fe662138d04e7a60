/**
 * A program with typed data and schemas of real libraries, which only the empty project has: compiled and run there.
 */
export const schemasProgram = `
import { Carillon, handler, PayloadError, receiver } from '@carillon/client';
import * as v from 'valibot';
import { z } from 'zod';

const byZod = z.object({ cents: z.number(), until: z.iso.datetime().transform((text) => new Date(text)) });
const byValibot = v.object({ cents: v.number(), note: v.optional(v.string(), 'none') });
const carillon = new Carillon({ members: [process.env['CARILLON_SERVER'] ?? ''], refresh: null });
const later = { in: '1h', uri: 'http://127.0.0.1:9/' } as const;
const until = '2030-01-31T09:00:00Z';

const ids = [
  await carillon.set({ ...later, name: 'zod', data: { cents: 1, until }, schema: byZod }),
  await carillon.set({ ...later, name: 'valibot', data: { cents: 2 }, schema: byValibot }),
];
const opaques = await Promise.all(ids.map(async ({ id }) => (await carillon.get(id))?.opaque));

const wrong = { cents: 'a lot', until };
const refused = [
  // @ts-expect-error -- cents is a text
  carillon.set({ ...later, name: 'zod', data: wrong, schema: byZod }),
  // @ts-expect-error -- cents is a text
  carillon.set({ ...later, name: 'valibot', data: wrong, schema: byValibot }),
];
for (const { reason } of (await Promise.allSettled(refused)) as PromiseRejectedResult[]) {
  const { message, issues } = reason as PayloadError;
  console.log(reason instanceof PayloadError, message.split(':')[0], issues.length);
}

const receive = receiver({
  handlers: {
    zod: handler(byZod, ({ data }) => console.log(data.cents, data.until.getUTCFullYear())),
    valibot: handler(byValibot, ({ data }) => console.log(data.cents, data.note.length)),
  },
});
const bodies = [...opaques, '{"name":"zod","data":{}}', '{"name":"valibot","data":{}}'];
for (const [i, body] of bodies.entries()) {
  const headers = { 'x-timer-id': 'a-1', 'x-sequence-number': String(i) };
  const request = new Request('http://r/', { method: 'POST', headers, body: body ?? null });
  console.log((await receive(request)).status);
}
`;

export const schemasOutput = `true The data of "zod" does not fit its schema at /cents 1
true The data of "valibot" does not fit its schema at /cents 1
1 2030
200
2 4
200
410
410
`;
