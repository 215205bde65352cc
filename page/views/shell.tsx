import { Fragment, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { apiKey, signOut, signIn } from '../api/session.ts';
import { href, route } from '../state/route.ts';
import { lastAddress } from '../state/filters.ts';
import { nextTheme, theme } from '../state/theme.ts';
import { useSignal } from '@preact/signals';
import { KeysButton } from '../parts/keys.tsx';

const groups = [
  [
    'Work',
    [
      ['threads', 'Threads'],
      ['runs', 'Runs'],
      ['approvals', 'Approvals'],
    ],
  ],
  [
    'Set-up',
    [
      ['agents', 'Agents'],
      ['schedules', 'Schedules'],
      ['webhooks', 'Webhooks'],
      ['limits', 'Limits'],
      ['evals', 'Evals'],
      ['monitors', 'Monitors'],
      ['alarms', 'Alarms'],
    ],
  ],
  ['System', [['operations', 'Operations']]],
] as const;
const titles = new Map<string, string>(groups.flatMap(([, areas]) => areas.map(([key, title]) => [key, title])));

/** The frame of every view: a menu beside it, which a phone has behind a button. */
export function Shell({ children }: { children: ComponentChildren }) {
  const area = route.value.path[0] ?? 'threads';
  const open = useSignal(false);
  const address = location.hash;
  useEffect(() => {
    open.value = false;
  }, [address]);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to content
      </a>
      <header class={open.value ? 'bar open' : 'bar'}>
        <a class="brand" href={href('threads')}>
          Lanefold
        </a>
        <button type="button" class="bar-toggle" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          <span class="hidden">Menu: </span>
          {titles.get(area) ?? area} <span aria-hidden="true">▾</span>
        </button>
        <nav aria-label="Areas">
          {groups.map(([group, areas]) => (
            <Fragment key={group}>
              <p>{group}</p>
              {areas.map(([key, title]) => (
                <a key={key} href={lastAddress(key)} {...(area === key ? { 'aria-current': 'page' } : {})}>
                  {title}
                </a>
              ))}
            </Fragment>
          ))}
        </nav>
        <div class="bar-end">
          <a href="/docs">API</a>
          <a href="/admin/queues">Bull Board</a>
          <KeysButton />
          <button type="button" onClick={nextTheme} title="Colours: as in the system, light or dark">
            Theme: {theme.value}
          </button>
          {apiKey.value !== '' && (
            <button type="button" onClick={signOut}>
              Sign out
            </button>
          )}
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
