import { signal } from '@preact/signals';

const place = 'lanefold.key';

/** The API key, kept until the tab is closed. */
export const apiKey = signal(sessionStorage.getItem(place) ?? '');
/** The server rejected the last request because it had no valid key. */
export const needsKey = signal(false);

export function signIn(key: string): void {
  sessionStorage.setItem(place, key);
  apiKey.value = key;
  needsKey.value = false;
}

export function signOut(): void {
  sessionStorage.removeItem(place);
  // filters may have the words of a customer
  sessionStorage.clear();
  apiKey.value = '';
  needsKey.value = true;
}
