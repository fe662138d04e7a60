/** The timers that one member holds, page by page, as primary or as backup. */
import { useState } from 'preact/hooks';
import { listTimers } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Loading, Wrong } from '../parts/parts.tsx';
import { Pager, useTrail } from '../pages.tsx';
import { TimerTable } from '../parts/timer-table.tsx';

const roles: readonly (readonly [string, string])[] = [
  ['', 'All'],
  ['primary', 'As primary'],
  ['backup', 'As backup'],
];
const pageLength = 25;

export function Held({ name }: { readonly name: string }) {
  const [role, setRole] = useState('');
  return (
    <>
      <fieldset class="choice roles" aria-label="Role">
        {roles.map(([value, title]) => (
          <label key={value}>
            <input
              type="radio"
              name="role"
              checked={role === value}
              onChange={() => setRole(value)}
            />{' '}
            {title}
          </label>
        ))}
      </fieldset>
      <Pages key={`${name} ${role}`} name={name} role={role} />
    </>
  );
}

function Pages({ name, role }: { readonly name: string; readonly role: string }) {
  const trail = useTrail();
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
          {data.missing.join(', ')} did not answer; what others hold as well is shown.
        </p>
      )}
      {data.items.length === 0 ? <p class="dim">None.</p> : <TimerTable timers={data.items} />}
      <Pager trail={trail} next={data.cursor} />
    </>
  );
}
