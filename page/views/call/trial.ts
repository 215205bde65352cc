import type { Eval, Json, Message, ModelCall } from '../../api/types.ts';

/** A variant of a trial as its form has it. */
export interface Form {
  model: string;
  /** Empty: none. */
  prompt: string;
  /** A preset or JSON; empty: the policy of the agent. */
  policy: string;
}

/** What a variant changes, as an eval takes it. */
export interface Change {
  model?: string;
  system_prompt?: string | null;
  context_policy?: Json;
}

/** A call as it was made. */
export const recordedForm = (call: ModelCall): Form => ({
  model: call.model,
  prompt: systemPromptOf(call.messages),
  policy: '',
});

/** Only what differs from the call, because an agent may not allow the others to be chosen. @throws Error */
export function changesOf(call: ModelCall, { model, prompt, policy }: Form): Change {
  const recorded = recordedForm(call);
  return {
    ...(model.trim() === recorded.model ? {} : { model: model.trim() }),
    ...(prompt === recorded.prompt ? {} : { system_prompt: prompt === '' ? null : prompt }),
    ...(policy.trim() === '' ? {} : { context_policy: policyOf(policy.trim()) }),
  };
}

/** The forms of a trial that was made before. */
export const formsOf = (call: ModelCall, { spec }: Eval): Form[] =>
  (spec as unknown as { variants: Change[] }).variants.map((change) => {
    const recorded = recordedForm(call);
    const { model = recorded.model, system_prompt: prompt = recorded.prompt, context_policy: policy = '' } = change;
    return { model, prompt: prompt ?? '', policy: typeof policy === 'string' ? policy : JSON.stringify(policy) };
  });

/** The definition of an agent with what a variant changes, to be put beside the present one. */
export function versionOf(agent: string, label: string, change: Change): string {
  const { model, system_prompt: prompt, context_policy: policy } = change;
  const name = /^[a-z_$][\w$]*$/i.test(agent) ? agent : 'agent';
  const fields = [
    `version: ${quoted(label)}`,
    ...(model === undefined ? [] : [`model: ${quoted(model)}`]),
    ...(prompt === undefined ? [] : [`instructions: ${prompt === null ? 'null' : quoted(prompt)}`]),
    ...(policy === undefined ? [] : [`contextPolicy: ${JSON.stringify(camelKeys(policy))}`]),
  ];
  return `defineAgent({\n  ...${name},\n${fields.map((field) => `  ${field},\n`).join('')}})`;
}

const quoted = (text: string): string =>
  text.includes('\n') || text.includes("'")
    ? `\`${text.replaceAll(/[\\`]|\$\{/g, '\\$&')}\``
    : `'${text.replaceAll('\\', '\\\\')}'`;

/** A policy as the library takes it. */
const camelKeys = (policy: Json): Json =>
  typeof policy === 'object' && policy !== null && !Array.isArray(policy)
    ? Object.fromEntries(
        Object.entries(policy).map(([key, value]) => [
          key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
          value,
        ]),
      )
    : policy;

/** The name of a preset, or an object. The API rejects anything else, with the reason. */
function policyOf(text: string): Json {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('The policy is not valid JSON.');
  }
}

/** The text of the system message; empty without one. */
function systemPromptOf([first]: Message[]): string {
  return first?.role === 'system' && typeof first.content === 'string' ? first.content : '';
}
