import { effectOps, type EffectOp, type StateEffect } from '../context/state.ts';
import { cleanJson } from '../../base/checks/values.ts';
import { isObject, parseJson } from '../../base/common/json.ts';
import { represent } from './represent.ts';

/** Which state effects of tools are applied. `deny` always wins; a given list replaces its default. */
export interface EffectPolicy {
  /** Default `allow_list`. `allow_all` applies everything that is not in `deny`. */
  mode?: 'allow_list' | 'allow_all' | 'deny_all';
  /** Default: every operation. */
  allow?: readonly EffectOp[];
  /** Default: none. */
  deny?: readonly EffectOp[];
}

/**
 * An effect that is not applied, because it violates the policy, is not a valid operation, or exceeds the result size
 * limit.
 */
export type RefusedEffect = { op: string; reason: 'policy' | 'invalid' | 'too_large' };

/** A result with effects; create it with `withEffects`. */
export class WithEffects {
  constructor(
    readonly result: unknown,
    readonly effects: readonly StateEffect[],
  ) {}
}

/**
 * Returns a result and changes the state of the thread. The effects are applied exactly once, in call order, in the
 * commit that appends the results of the round, and never for an attempt that is retried.
 *
 * @example
 * ```ts
 * import { defineTool, withEffects } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'move',
 *   input: z.object({ city: z.string() }),
 *   execute: ({ city }) => withEffects(`You are in ${city} now.`, [{ op: 'set', value: { city } }]),
 * });
 * ```
 */
export const withEffects = (result: unknown, effects: readonly StateEffect[]): WithEffects =>
  new WithEffects(result, effects);

/** Separates the result from the effects in what a tool returned. */
export function openEffects(value: unknown): { result: unknown; offered?: readonly unknown[] } {
  if (!(value instanceof WithEffects)) return { result: value };
  return { result: value.result, offered: Array.isArray(value.effects) ? value.effects : [value.effects] };
}

export interface JudgedEffects {
  effects?: StateEffect[];
  refused?: RefusedEffect[];
  cleaned?: boolean;
}

/** Separates the effects to apply from those rejected. Never throws. */
export function judgeEffects(offered: readonly unknown[], policy: EffectPolicy, maxBytes: number): JudgedEffects {
  const effects: StateEffect[] = [];
  const refused: RefusedEffect[] = [];
  let cleaned = false;
  let bytes = 0;
  for (const item of offered) {
    const found = read(item);
    if (found) bytes += found.bytes;
    const op = String((Object(item) as { op?: unknown }).op).slice(0, 50);
    if (!found) refused.push({ op, reason: 'invalid' });
    else if (!allows(policy, found.effect.op)) refused.push({ op, reason: 'policy' });
    else if (bytes > maxBytes) refused.push({ op, reason: 'too_large' });
    else effects.push(found.effect);
    cleaned ||= found?.cleaned ?? false;
  }
  return {
    ...(effects.length > 0 && { effects }),
    ...(refused.length > 0 && { refused }),
    ...(cleaned && { cleaned }),
  };
}

function allows({ mode = 'allow_list', allow = effectOps, deny = [] }: EffectPolicy, op: EffectOp): boolean {
  if (mode === 'deny_all' || deny.includes(op)) return false;
  return mode === 'allow_all' || allow.includes(op);
}

const deepest = 64;

/** The effect in its stored form: plain JSON with only the known fields and storable text. */
function read(item: unknown): { effect: StateEffect; bytes: number; cleaned: boolean } | undefined {
  try {
    const text = JSON.stringify(represent(item));
    const { value, cleaned } = cleanJson(parseJson(text) as Record<string, unknown>);
    const effect = shape(value);
    if (!effect || depth(effect) > deepest) return undefined;
    return { effect, bytes: Buffer.byteLength(text), cleaned };
  } catch {
    return undefined;
  }
}

function shape({ op, value, keys, path }: Record<string, unknown>): StateEffect | undefined {
  if ((op === 'set' || op === 'replace') && isObject(value)) return { op, value } as StateEffect;
  if (op === 'delete_keys' && areTexts(keys)) return { op, keys };
  if (!areTexts(path) || path.length === 0) return undefined;
  if (op === 'set_path' && value !== undefined) return { op, path, value } as StateEffect;
  return op === 'delete_path' ? { op, path } : undefined;
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= deepest && value.every((item) => typeof item === 'string');

function depth(value: unknown, at = 0): number {
  if (typeof value !== 'object' || value === null || at > deepest) return at;
  return Math.max(at, ...Object.values(value).map((item) => depth(item, at + 1)));
}
