import { z } from 'zod';
import { snakeKeys, camelKeys, toSnakeCase } from '../../base/common/case.ts';
import type { Json, JsonObject } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { ContextPolicy } from './declaration.ts';
import { presets, withDefaults, type StoredPolicy } from './policy.ts';
import type { PolicyOption, PolicyPreset } from './types.ts';
import { parseJson } from '../../base/common/json.ts';

/** As policies are stored and sent. */
const fields = z
  .strictObject(
    Object.fromEntries(Object.entries(ContextPolicy.shape).map(([field, schema]) => [toSnakeCase(field), schema])),
  )
  .superRefine((policy, context) => {
    const fault = contradiction(policy as Fields);
    if (fault) context.addIssue({ code: 'custom', path: [fault.field], message: fault.why });
  });

type Fields = Partial<StoredPolicy>;

/** Finds two fields that contradict each other, or a filter that would hide the question or split a tool group. */
function contradiction(policy: { [K in keyof Fields]: Fields[K] | undefined }):
  { field: string; why: string } | undefined {
  const {
    max_input_tokens: limit,
    reserve_output_tokens: reserve,
    max_messages: messages,
    keep_last_turns: turns = withDefaults({}).keep_last_turns,
    include_kinds: kinds,
  } = policy;
  if (typeof limit === 'number' && reserve !== undefined && reserve >= limit) {
    return { field: 'reserve_output_tokens', why: 'leaves no tokens of max_input_tokens for the context' };
  }
  if (messages && policy.keep_last_turns !== undefined && turns > messages) {
    return { field: 'keep_last_turns', why: 'is greater than max_messages' };
  }
  if (!kinds) return undefined;
  if (!kinds.includes('message'))
    return { field: 'include_kinds', why: 'must include message, or the question is left out' };
  if (kinds.includes('tool_call') !== kinds.includes('tool_result')) {
    return {
      field: 'include_kinds',
      why: 'must include both tool_call and tool_result, or neither: a tool group is never split',
    };
  }
  return undefined;
}

/**
 * The stored form of a policy: a preset by name, or fields in camelCase.
 *
 * @throws LanefoldError `invalid_policy`
 */
export const readPolicy = (policy: PolicyOption): StoredPolicy =>
  readFields(typeof policy === 'string' ? preset(policy) : policy, (given) => snakeKeys(given));

/** Like `readPolicy`, for policies from HTTP, the command line or the log: fields in snake_case. */
export const readPolicyJson = (policy: unknown): StoredPolicy =>
  typeof policy === 'string' ? readPolicy(policy as PolicyPreset) : readFields(policy, (given) => ({ ...given }));

/**
 * A policy as the log keeps it: the given fields in snake_case, without defaults, so that a later change of a default
 * applies to it.
 */
export const storedOption = (policy: PolicyOption | null): Json =>
  policy === null || typeof policy === 'string' ? policy : (snakeKeys(policy) as JsonObject);

function preset(given: string): object {
  if (Object.hasOwn(presets, given)) return presets[given as PolicyPreset];
  throw invalid(`preset ${JSON.stringify(given)} does not exist`, `Presets: ${Object.keys(presets).join(', ')}.`);
}

function readFields(given: unknown, toSnake: (given: object) => Record<string, unknown>): StoredPolicy {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid('it is not an object');
  const known = Object.entries(toSnake(given)).filter(([, value]) => value !== undefined);
  const checked = fields.safeParse(Object.fromEntries(known));
  if (checked.success) return withDefaults(checked.data as Fields);
  const [issue] = checked.error.issues;
  const path = issue!.code === 'unrecognized_keys' ? issue!.keys[0]! : issue!.path.join('.');
  throw invalid(`${path} ${issue!.code === 'unrecognized_keys' ? 'is not one of its fields' : issue!.message}`);
}

const invalid = (
  why: string,
  hint = 'See “Context policies” in docs/build/contexts.md. Nothing was changed.',
): LanefoldError => new LanefoldError('invalid_policy', `The context policy is invalid: ${why}.`, { hint });

/** Converts a policy from its fields in snake_case to the form the library takes. */
export const toPolicyOption = (given: string | object): PolicyOption =>
  (typeof given === 'string' ? given : camelKeys(given)) as PolicyOption;

/** Parses a policy from a URL or a command line: a preset, or a JSON object. @throws LanefoldError `invalid_policy` */
export function parsePolicy(text: string): PolicyOption {
  if (!text.trimStart().startsWith('{')) return text as PolicyOption;
  try {
    return toPolicyOption(parseJson(text) as object);
  } catch {
    throw new LanefoldError('invalid_policy', 'The context policy is not JSON.', {
      hint: 'Pass a preset, or a JSON object such as {"max_input_tokens": 8000}.',
    });
  }
}
