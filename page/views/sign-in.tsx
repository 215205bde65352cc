import { useSignal } from '@preact/signals';
import { apiKey, signIn } from '../state/session.ts';

export function SignIn() {
  const key = useSignal('');
  const refused = apiKey.value !== '';
  const submit = (event: Event) => {
    event.preventDefault();
    if (key.value.trim() !== '') signIn(key.value.trim());
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit} class="card">
        <h1>Lanefold</h1>
        <p>This server requires an API key. The key stays in this tab and is sent only to this server.</p>
        {refused && (
          <p class="failure" role="alert">
            The API key is wrong.
          </p>
        )}
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          value={key.value}
          onInput={(event) => (key.value = event.currentTarget.value)}
          autofocus
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}
