import canonicalize from 'canonicalize';
import type { Json } from '../../agent/context/message.ts';

/** A tool call of a run, with what the model saw of its result; null: none yet. */
export interface RecordedCall {
  name: string;
  arguments: Json;
  result: Json | null;
  /** Which message of the run makes it, from 0. */
  message: number;
}

type Call = Pick<RecordedCall, 'name' | 'arguments'>;

const keyOf = ({ name, arguments: args }: Call): string => `${name} ${canonicalize(args)}`;

/** The recorded call that answers a call, which comes after `earlier` ones: calls that repeat get the results in order. */
export function recordedFor(
  recorded: readonly RecordedCall[],
  earlier: readonly Call[],
  call: Call,
): RecordedCall | undefined {
  const key = keyOf(call);
  const nth = earlier.filter((each) => keyOf(each) === key).length;
  return recorded.filter((each) => each.result !== null && keyOf(each) === key)[nth];
}

const longestArguments = 200;

/** The first call that the record lacks, in words; null if it has all. */
export function firstDivergence(recorded: readonly RecordedCall[], calls: readonly Call[]): string | null {
  const at = calls.findIndex((call, index) => !recordedFor(recorded, calls.slice(0, index), call));
  if (at < 0) return null;
  const { name, arguments: args } = calls[at]!;
  const shown = JSON.stringify(args);
  const cut = shown.length > longestArguments ? `${shown.slice(0, longestArguments - 1)}…` : shown;
  return `Call ${at + 1}, ${name}(${cut}), is not in the recorded run.`;
}
