import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { webhookTypes, type WebhookDefinition } from './definition.ts';
import { invalid } from './invalid-webhook.ts';
import { readUrl } from './read-url.ts';

const keys: KeysOf<WebhookDefinition> = { url: true, types: true, agents: true, ordered: true, includeResult: true };
const mostAgents = 100;

/**
 * Checks an endpoint, except the addresses of its host, and fills in the defaults. Writes its URL as browsers do.
 *
 * @param anywhere `http:` URLs and private addresses are allowed
 * @throws LanefoldError `invalid_input`
 */
export function readDefinition(given: WebhookDefinition, anywhere: boolean): Required<WebhookDefinition> {
  if (typeof given !== 'object' || given === null) throw invalid('definition', 'must be an object');
  refuseUnknownKeys('webhooks.set', given, keys);
  const { url, types = [], agents = [], ordered = false, includeResult = false } = given;
  const read = readUrl(url, anywhere);
  if (read.problem !== undefined) throw invalid('url', read.problem);
  if (!isTexts(types) || types.some((type) => !webhookTypes.includes(type)))
    throw invalid('types', `must be a list of ${webhookTypes.join(', ')}`);
  if (!isTexts(agents) || agents.length > mostAgents)
    throw invalid('agents', `must be a list of at most ${mostAgents} names`);
  for (const [field, value] of Object.entries({ ordered, includeResult }))
    if (typeof value !== 'boolean') throw invalid(field, 'must be true or false');
  // as it was read: elsewhere, the host of "https:\\host\secret" would seem to have no end
  return { url: read.url.href, types: unique(types), agents: unique(agents), ordered, includeResult };
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && one.length > 0 && one.length <= 128);
const unique = <T extends string>(values: readonly T[]): T[] => [...new Set(values)].sort();
