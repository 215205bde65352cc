import type { ComponentChildren } from 'preact';
import { apiKey, signOut, signIn } from '../api/session.ts';
import { href, route } from '../state/route.ts';
import { nextTheme, theme } from '../state/theme.ts';
import { useSignal } from '@preact/signals';

const areas = [
  ['threads', 'Threads'],
  ['runs', 'Runs'],
  ['approvals', 'Approvals'],
  ['schedules', 'Schedules'],
  ['webhooks', 'Webhooks'],
  ['agents', 'Agents'],
  ['evals', 'Evals'],
  ['monitors', 'Monitors'],
  ['limits', 'Limits'],
  ['operations', 'Operations'],
] as const;

/** The frame of every view. */
export function Shell({ children }: { children: ComponentChildren }) {
  const area = route.value.path[0] ?? 'threads';
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={href('threads')}>
          Lanefold
        </a>
        <nav aria-label="Areas">
          {areas.map(([key, title]) => (
            <a key={key} href={href(key)} {...(area === key ? { 'aria-current': 'page' } : {})}>
              {title}
            </a>
          ))}
        </nav>
        <div class="bar-end">
          <a href="/admin/queues">Bull Board</a>
          <a href="/docs">API</a>
          {apiKey.value !== '' && (
            <button type="button" class="link" onClick={signOut}>
              Sign out
            </button>
          )}
          <button type="button" class="small" onClick={nextTheme} title="Colours: as in the system, light or dark">
            Theme: {theme.value}
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** The part of the address after `#` selects a view, so this link moves the focus by script. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

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
