/** The timers that one member holds, page by page, as primary or as backup. */
import { listTimers } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Loading, Wrong } from '../parts/parts.tsx';
import { addressTrail, Pager } from '../pages.tsx';
import { go, route } from '../route.ts';
import { TimerTable } from '../parts/timers/timer-table.tsx';

const roles: readonly (readonly [string, string])[] = [
  ['', 'All'],
  ['primary', 'As primary'],
  ['backup', 'As backup'],
];
const pageLength = 25;

export function Held({ name }: { readonly name: string }) {
  const role = route.value.query.get('role') ?? '';
  return (
    <>
      <fieldset class="choice roles" aria-label="Role">
        {roles.map(([value, title]) => (
          <label key={value}>
            <input
              type="radio"
              name="role"
              checked={role === value}
              onChange={() => go(address(name, value))}
            />{' '}
            {title}
          </label>
        ))}
      </fieldset>
      <Pages key={`${name} ${role}`} name={name} role={role} />
    </>
  );
}

/** The role and the page are in the address: Back, reload and a copied address lead to the same list. */
function address(name: string, role: string, at = ''): string {
  const query = new URLSearchParams();
  if (role !== '') query.set('role', role);
  if (at !== '') query.set('at', at);
  const path = `#/topology/${encodeURIComponent(name)}`;
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function Pages({ name, role }: { readonly name: string; readonly role: string }) {
  const trail = addressTrail(route.value.query, (at) => address(name, role, at));
  const { cursor } = trail;
  const load = () =>
    listTimers({ tag: '', state: '', limit: pageLength, cursor, member: name, role });
  const { data, error } = useLoaded(`${name} ${role} ${cursor}`, load, 4000);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  return (
    <>
      <Wrong says={error} />
      {data.missing.length === 0 ? null : (
        <p class="note">
          {data.missing.join(', ')} did not answer; timers that other members hold too are shown.
        </p>
      )}
      {data.items.length > 0 ? <TimerTable timers={data.items} /> : null}
      {data.items.length === 0 && data.cursor === null ? <p class="dim">None.</p> : null}
      <Pager trail={trail} next={data.cursor} />
    </>
  );
}
