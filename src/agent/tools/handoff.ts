import { assertStorable, isBlank } from '../../base/checks/values.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import type { Json, JsonObject } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { PolicyOption } from '../policy/types.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { defineTool } from './define-tool.ts';
import type { NeedsApproval, Tool } from './tool.ts';

export interface HandoffOptions {
  /**
   * What the next agent sees of the conversation: all of it (`whole`, default), or the question and a `summary`. Its
   * context policy may leave out more.
   */
  context?: 'whole' | 'summary';
  /** Filters what the next agent sees, in place of its context policy. */
  contextPolicy?: PolicyOption;
  /** A user message for the next agent, added to the conversation. Needed at the end of a run, optional in a tool. */
  ask?: string;
}

export interface HandoffRequest extends HandoffOptions {
  agent: string;
}

/** The next agent, as the worker that accepted the handoff knew it. */
export interface NextAgent extends Required<Pick<HandoffRequest, 'agent' | 'context'>> {
  model: string;
  /** The models that stand in for it, as they are stored. */
  fallback?: JsonObject;
  prompt: string | null;
  ask?: string;
  /** As it is stored. */
  context_policy?: Json;
  /** The version that the run is pinned to from now on. */
  pinned?: string;
}

const keys: KeysOf<HandoffOptions> = { context: true, contextPolicy: true, ask: true };

/**
 * Returned by a tool instead of a result: once the calls of the round have ended, another agent continues the run. As
 * `onEnd` of an agent, once that agent has answered. Create it with `handOff`.
 */
export class Handoff {
  /** @internal */
  constructor(readonly request: HandoffRequest) {}
}

/**
 * Gives the run to another agent: it continues the same conversation, under the prompt, tools, model and limits of that
 * agent. Return the value from a tool, or pass it to `defineAgent` as `onEnd`.
 *
 * @throws LanefoldError `invalid_input`, `invalid_context_policy`
 *
 * @example
 * ```ts
 * import { defineTool, handOff } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'transfer',
 *   input: z.object({ department: z.enum(['billing', 'support']) }),
 *   execute: ({ department }) => handOff(department),
 * });
 * ```
 */
export function handOff(agent: string | { name: string }, options: HandoffOptions = {}): Handoff {
  refuseUnknownKeys('handOff', options, keys);
  const name = typeof agent === 'string' ? agent : agent?.name;
  if (typeof name !== 'string' || name === '') {
    throw new LanefoldError('invalid_input', 'The agent is neither an agent nor the name of one.', {
      hint: 'Pass a name, or what defineAgent returned.',
    });
  }
  if (options.context !== undefined && !['whole', 'summary'].includes(options.context)) {
    throw new LanefoldError(
      'invalid_input',
      `The context ${JSON.stringify(options.context)} of a handoff is unknown.`,
      {
        hint: 'Pass "whole" or "summary".',
      },
    );
  }
  if (options.ask !== undefined && (typeof options.ask !== 'string' || isBlank(options.ask))) {
    throw new LanefoldError('invalid_input', 'The question for the next agent is not a text, or it is blank.', {
      hint: 'Pass ask: "…", or leave it out.',
    });
  }
  assertStorable(options.ask, 'The question for the next agent');
  if (options.contextPolicy !== undefined) readPolicy(options.contextPolicy);
  return new Handoff({ agent: name, ...options });
}

export interface HandoffToolOptions extends HandoffOptions {
  /** Default `transfer_to_<agent>`, with `_` for characters that names of tools may not have. */
  name?: string;
  /** Tells the model when to hand over. */
  description?: string;
  needsApproval?: NeedsApproval<object>;
}

const toolKeys: KeysOf<HandoffToolOptions> = { ...keys, name: true, description: true, needsApproval: true };

/**
 * A tool with which a model hands the run to another agent, which must be one of the `agents` of the worker too.
 *
 * @throws LanefoldError `invalid_tool`, `invalid_input`
 *
 * @example
 * ```ts
 * import { defineAgent, handoffTool } from 'lanefold';
 *
 * const billing = defineAgent({ name: 'billing', model: 'scripted:demo', instructions: 'You answer about invoices.' });
 * defineAgent({
 *   name: 'reception',
 *   model: 'scripted:demo',
 *   tools: [handoffTool(billing, { description: 'For everything about invoices.' })],
 * });
 * ```
 */
export function handoffTool(agent: string | { name: string }, options: HandoffToolOptions = {}): Tool {
  refuseUnknownKeys('handoffTool', options, toolKeys);
  const agentName = typeof agent === 'string' ? agent : agent.name;
  const { name: given, description, needsApproval, ...handoff } = options;
  const name = (given ?? `transfer_to_${agentName.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`).slice(0, 64);
  const request = handOff(agentName, handoff);
  const tool = defineTool<object>({
    name,
    description: description ?? `Hands the conversation to the agent ${agentName}.`,
    input: { type: 'object', properties: {}, additionalProperties: false },
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: () => request,
  });
  return { ...tool, toAgent: agentName, handsOver: true };
}
