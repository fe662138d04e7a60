/**
 * The namespace in view, and with authentication the token's name and scope and the way out. Empty when there is
 * nothing to choose.
 */
import { useState } from 'preact/hooks';
import {
  chooseNamespace,
  logOut,
  mayChooseNamespace,
  presentNamespace,
  whoami,
} from '../session.ts';

export function Who() {
  const { auth, name, scope } = whoami.value;
  if (!auth && !mayChooseNamespace.value) return null;
  return (
    <div class="who">
      <Namespace />
      {auth ? (
        <p class="row">
          <span class="dim" title={`This token allows to ${scope}.`}>
            {name ?? 'token'} · {scope}
          </span>
          <button type="button" class="link" onClick={logOut}>
            Log out
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** The rule of the members. */
const form = '[a-z0-9][a-z0-9._\\-]{0,63}';

function Namespace() {
  const [typing, setTyping] = useState(false);
  const shown = presentNamespace.value;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const typed = (event.currentTarget as HTMLFormElement).elements.namedItem('namespace');
    const given = (typed as HTMLInputElement).value.trim();
    chooseNamespace(given === 'default' ? '' : given);
    setTyping(false);
  };
  if (!typing) {
    return (
      <p class="row">
        <span class="dim">Namespace</span>
        {mayChooseNamespace.value ? (
          <button type="button" class="link" title="Choose another" onClick={() => setTyping(true)}>
            {shown}
          </button>
        ) : (
          <span>{shown}</span>
        )}
      </p>
    );
  }
  return (
    <form class="namespace" onSubmit={submit}>
      <input
        name="namespace"
        aria-label="Namespace"
        defaultValue={shown}
        pattern={form}
        title="Small letters, digits, dot, dash and underscore, 64 at most"
        required
        autocomplete="off"
        spellcheck={false}
        ref={(input) => input?.focus()}
      />
      <button class="button" type="submit">
        Show
      </button>
    </form>
  );
}
