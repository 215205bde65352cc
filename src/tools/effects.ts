import { effectOps, type EffectOp, type StateEffect } from '../context/state.ts';
import { cleanJson } from '../text.ts';

/** Which effects of tools count (reference 2.10). `deny` always wins; a list that is given replaces the default one. */
export interface EffectPolicy {
  /** Default `allow_list`. `allow_all`: whatever is not in `deny`. */
  mode?: 'allow_list' | 'allow_all' | 'deny_all';
  /** Default: every operation. */
  allow?: readonly EffectOp[];
  /** Default: none. */
  deny?: readonly EffectOp[];
}

/** An effect that does not count: against the policy, none of the five operations, or larger than a result may be. */
export type RefusedEffect = { op: string; reason: 'policy' | 'invalid' | 'too_large' };

/** A result with effects; made by `withEffects`. */
export class WithEffects {
  constructor(
    readonly result: unknown,
    readonly effects: readonly StateEffect[],
  ) {}
}

/**
 * What a tool returns when it also changes the state of its thread. The changes are kept with the result: they happen
 * once, in call order, in the commit that brings the round's results, and never for an attempt that is retried.
 *
 * @example
 * execute: ({ city }) => withEffects(`You are in ${city} now.`, [{ op: 'set', value: { city } }]),
 */
export const withEffects = (result: unknown, effects: readonly StateEffect[]): WithEffects =>
  new WithEffects(result, effects);

/** The result and the effects of whatever a tool returned or threw. */
export function openEffects(value: unknown): { result: unknown; offered?: readonly unknown[] } {
  if (!(value instanceof WithEffects)) return { result: value };
  return { result: value.result, offered: Array.isArray(value.effects) ? value.effects : [value.effects] };
}

export interface JudgedEffects {
  effects?: StateEffect[];
  refused?: RefusedEffect[];
  cleaned?: boolean;
}

/** Parts what counts from what does not. Never throws. */
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

/** The effect as it is stored: plain JSON, only its own fields, text the database takes. */
function read(item: unknown): { effect: StateEffect; bytes: number; cleaned: boolean } | undefined {
  try {
    const text = JSON.stringify(item);
    const { value, cleaned } = cleanJson(JSON.parse(text) as Record<string, unknown>);
    const effect = shape(value);
    if (!effect || depth(effect) > deepest) return undefined;
    return { effect, bytes: Buffer.byteLength(text), cleaned };
  } catch {
    return undefined;
  }
}

function shape({ op, value, keys, path }: Record<string, unknown>): StateEffect | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if ((op === 'set' || op === 'replace') && isObject) return { op, value } as StateEffect;
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
