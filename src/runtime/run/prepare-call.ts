import { createHash } from 'node:crypto';
import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { toolsOnly } from '../../agents/apply-overrides.ts';
import type { ReadyAgent } from '../../agents/registry.ts';
import type { JsonObject } from '../../context/message.ts';
import type { ModelRegistry } from '../../models/registry/registry.ts';
import type { ModelSettings } from '../../models/settings/settings.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { HeldRun } from './held-run.ts';
import { RunContext } from './context.ts';
import { transformRequest, transformerContext } from './transform-request.ts';

/** A model call ready to be made, with what the log records about it. */
export interface PreparedCall {
  model: string;
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  settings: ModelSettings;
  /** Hash of the messages as sent. */
  contextHash: string;
  refs?: JsonObject;
  /** The tools of this turn, if they are fewer than the run's. */
  narrowed?: string[];
}

/** Prepares the next model call: the context as it is, or as the request transformer changes it. */
export async function prepareCall(
  models: ModelRegistry,
  run: HeldRun,
  agent: ReadyAgent,
  claim: Claim,
  context: RunContext,
  iteration: number,
): Promise<PreparedCall> {
  const contracted = agent.output ? { refs: { output_hash: sha256(agent.output.instructions) } } : {};
  const plain = () => ({
    model: claim.model,
    prompt: context.prompt,
    tools: agent.descriptors,
    settings: agent.settings,
    contextHash: context.hash,
    ...contracted,
  });
  const { requestTransformer: transformer } = agent;
  if (!transformer) return plain();
  const draft = {
    model: claim.model,
    messages: context.messages,
    settings: agent.settings,
    tools: [...agent.tools.keys()],
  };
  const request = await transformRequest(
    transformer,
    models,
    draft,
    transformerContext(run, agent, claim, iteration),
    agent.toolTimeoutMs,
  );
  if (!request.transformed) return plain();
  const sent = request.messages === draft.messages ? context : new RunContext(request.messages, context.instructions);
  return {
    model: request.model,
    settings: request.settings,
    tools: toolsOnly(agent, request.tools).descriptors,
    prompt: sent.prompt,
    contextHash: sent.hash,
    refs: { transformed: true, ...contracted.refs, ...(request.model === claim.model ? {} : { model: request.model }) },
    ...(request.tools.length === agent.tools.size ? {} : { narrowed: request.tools }),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
