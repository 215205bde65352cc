import { LanefoldError } from '../../../base/errors.ts';

/** The providers that work without any code from the user. */
export type ProviderName = 'openai' | 'anthropic' | 'google' | 'openai-compatible' | 'scripted';

/** `provider:model`, an alias, or a model of your own in `createLanefold({ models })`. */
export type ModelName = `${ProviderName}:${string}` | (string & Record<never, never>);

const safe = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}$/;

/** Providers put the name into the path of a request, so it must not be able to lead anywhere else. */
export function assertModelName(id: string, name: string): void {
  if (safe.test(name) && !/\.\.|\/\/|\/$/.test(name)) return;
  throw invalidName(id);
}

export const invalidName = (id: string): LanefoldError =>
  new LanefoldError('unknown_model', `Model ${JSON.stringify(id.slice(0, 200))} does not have a valid name.`, {
    hint: 'Write provider:model, where the model has up to 200 characters of [A-Za-z0-9._:@/+-], without .. and //.',
  });
