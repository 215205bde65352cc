import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Data read from the API, with the latest error. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  reload: () => Promise<void>;
}

/** Reads when the view opens and whenever `keys` change; with `everyMs`, also repeatedly while the page is visible. */
export function useLoaded<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: unknown[],
  { everyMs }: { everyMs?: number | undefined } = {},
): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const load = async (signal: AbortSignal): Promise<void> => {
    try {
      const value = await read(signal);
      if (signal.aborted) return;
      data.value = value;
      error.value = undefined;
    } catch (caught) {
      if (!signal.aborted) error.value = caught as Error;
    }
  };
  useEffect(() => {
    const left = new AbortController();
    data.value = undefined;
    void load(left.signal);
    return () => left.abort();
  }, keys);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const left = new AbortController();
    const timer = setInterval(() => document.visibilityState === 'visible' && void load(left.signal), everyMs);
    return () => {
      left.abort();
      clearInterval(timer);
    };
  }, [...keys, everyMs]);
  return { data: data.value, error: error.value, reload: () => load(new AbortController().signal) };
}
