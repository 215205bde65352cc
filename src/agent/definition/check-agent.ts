import type { OnCut } from '../context/cut.ts';
import { effectOps } from '../context/state.ts';
import { centuryMs } from '../../base/checks/whole-number.ts';
import { LanefoldError } from '../../base/errors.ts';
import { checkSettings, type CallSettings } from '../models/settings/call-settings.ts';
import type { EffectPolicy } from '../tools/effects.ts';
import { Handoff } from '../tools/handoff.ts';
import { isCost, noCost } from './cost.ts';

const atLeastOne = [
  'maxIterations',
  'maxTotalTokens',
  'maxDurationMs',
  'toolTimeoutMs',
  'toolConcurrency',
  'maxToolCalls',
  'maxToolResultBytes',
  'approvalTimeoutMs',
] as const;
const atLeastZero = [
  'maxDepth',
  'maxChildren',
  'maxHandoffs',
  'maxModelRetries',
  'idleTimeoutMs',
  'toolMaxRetries',
  'toolRetryBackoffMs',
] as const;

type Numbers = Partial<
  Record<(typeof atLeastOne)[number] | (typeof atLeastZero)[number] | 'maxCost', number | undefined>
>;

/** Checks the numbers of a definition. @throws LanefoldError `invalid_agent` */
export function checkNumbers(agent: string, definition: Numbers): void {
  for (const key of atLeastOne) check(agent, key, definition[key], 1);
  const { maxCost } = definition;
  if (maxCost !== undefined && !isCost(maxCost))
    throw invalidAgent(agent, `maxCost ${noCost}; got ${JSON.stringify(maxCost)}`);
  for (const key of atLeastZero) check(agent, key, definition[key], 0);
}

function check(agent: string, key: string, value: number | undefined, minimum: number): void {
  const maximum = key.endsWith('Ms') ? centuryMs : Infinity;
  if (value === undefined || (Number.isInteger(value) && value >= minimum && value <= maximum)) return;
  const range = maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw invalidAgent(agent, `${key} must be a whole number ${range}; got ${JSON.stringify(value)}`);
}

export function checkEffectPolicy(agent: string, policy: EffectPolicy): EffectPolicy {
  const { mode = 'allow_list', allow = [], deny = [] } = policy;
  if (!['allow_list', 'allow_all', 'deny_all'].includes(mode))
    throw invalidAgent(
      agent,
      `effectPolicy.mode must be allow_list, allow_all or deny_all; got ${JSON.stringify(mode)}`,
    );
  const unknown = [...allow, ...deny].find((op) => !effectOps.includes(op));
  if (unknown !== undefined)
    throw invalidAgent(agent, `effectPolicy lists an unknown operation, ${JSON.stringify(unknown)}`);
  return policy;
}

/** @throws LanefoldError `invalid_agent` */
export function checkOnEnd<OnEnd>(agent: string, strategy: string | object, onEnd: OnEnd): OnEnd {
  if (strategy !== 'react') throw invalidAgent(agent, 'onEnd needs the strategy react');
  if (typeof onEnd === 'function') return onEnd;
  if (!(onEnd instanceof Handoff)) throw invalidAgent(agent, 'onEnd must be handOff(…) or a function that returns it');
  if (onEnd.request.ask === undefined)
    throw invalidAgent(agent, 'the handoff of onEnd needs ask, a question for the next agent');
  if (onEnd.request.agent === agent) throw invalidAgent(agent, 'onEnd names the agent itself');
  return onEnd;
}

/** Checks the label of a version. Ids of versions are no labels. @throws LanefoldError `invalid_agent` */
export function checkLabel(agent: string, label: unknown): void {
  if (!isLabel(label))
    throw invalidAgent(
      agent,
      'version must be 1 to 64 characters of [A-Za-z0-9_.-], starting with a letter or digit, and not v_ and 24 hexadecimal digits',
    );
}

/** Whether a value may be the label of a version. */
export const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && /^(?!v_[0-9a-f]{24}$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);

/** @throws LanefoldError `invalid_agent` */
export function checkResume(agent: string, resume: 'latest' | 'pinned'): 'latest' | 'pinned' {
  if (resume === 'latest' || resume === 'pinned') return resume;
  throw invalidAgent(agent, `resume must be latest or pinned; got ${JSON.stringify(resume)}`);
}

export function checkOnCut(agent: string, onCut: OnCut): OnCut {
  if (['end', 'continue', 'fail'].includes(onCut)) return onCut;
  throw invalidAgent(agent, `onCut must be end, continue or fail; got ${JSON.stringify(onCut)}`);
}

export function checkCallSettings(agent: string, settings: CallSettings): CallSettings {
  const { fault } = checkSettings(settings);
  if (!fault) return settings;
  throw invalidAgent(agent, `settings${fault.path && `.${fault.path}`} is invalid: ${fault.why}`);
}

export const invalidAgent = (name: string, why: string): LanefoldError =>
  new LanefoldError('invalid_agent', `Agent ${JSON.stringify(name)} is invalid: ${why}.`, {
    hint: 'Fix the arguments of defineAgent.',
  });
