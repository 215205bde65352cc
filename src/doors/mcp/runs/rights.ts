import type { Api, RunJson } from '../api.ts';
import { openCalls, type OpenCall } from './state.ts';

/** Whether the caller may end each kind of wait. */
export type Rights = Record<OpenCall['kind'], boolean>;

/** What the caller may do about the open calls of a run, so that it is asked and offered nothing else. */
export async function rightsOf(api: Pick<Api, 'may'>, run: RunJson): Promise<Rights> {
  const kinds = new Set(openCalls(run).map(({ kind }) => kind));
  const approval = kinds.has('approval') && (await api.may('approve', 'approveToolCall'));
  const event = kinds.has('event') && (await api.may('steer', 'releaseWait'));
  return { approval, event };
}

/** Who ends the waits of these calls, for a reader who may end some of them, or none. */
export function whoEnds(calls: readonly OpenCall[], rights: Rights): string {
  const has = (kind: OpenCall['kind'], mine: boolean) =>
    mine === rights[kind] && calls.some((call) => call.kind === kind);
  const tools = [
    ...(has('approval', true) ? ['lanefold_decide'] : []),
    ...(has('event', true) ? ['lanefold_release'] : []),
  ];
  return [
    ...(tools.length > 0 ? [`Decide with ${tools.join(' or ')}.`] : []),
    ...(has('approval', false)
      ? [
          'This key may not approve or deny: a person does, on the page or with `lanefold approve`, with a key that has the scope approve.',
        ]
      : []),
    ...(has('event', false)
      ? ['This key may not release a wait: its event does, or a person with a key that has the scope steer.']
      : []),
  ].join(' ');
}
