/** The way in where the member asks for a token. */
import { useState } from 'preact/hooks';
import { Wrong } from '../parts/parts.tsx';
import { logIn, refusedWhy } from '../session.ts';

export function Login() {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = (form.elements.namedItem('token') as HTMLInputElement).value.trim();
    setError(null);
    if (given === '') return setError('Type a token: carillon token create makes one.');
    setBusy(true);
    try {
      await logIn(given);
    } catch {
      setError('The member did not answer. Try again.');
    }
    setBusy(false);
  };
  return (
    <div class="panel login">
      <h1>Log in</h1>
      <p class="dim">
        This member asks for a token. It stays in this tab and goes with it; an operator makes one
        with <code>carillon token create</code>.
      </p>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>Token</span>
          <input
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="carillon_…"
          />
        </label>
        <Wrong says={error ?? refusedWhy.value} />
        <button type="submit" class="button primary" disabled={busy}>
          Log in
        </button>
      </form>
    </div>
  );
}
