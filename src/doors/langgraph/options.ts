import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { assertId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../base/errors.ts';

export interface LanefoldSaverOptions {
  /** Serialises values; default: LangGraph's own, JSON. */
  serde?: SerializerProtocol;
  /**
   * The lane that shows the messages of the graph, where models, people and SQL can read them; subgraphs have lanes
   * named `<lane>:<namespace>`. `false`: no lanes. Default: `langgraph`; `false` with a `serde` of your own, which may
   * exist to encrypt what lanes would show.
   */
  lane?: string | false;
  /** The channel that has the messages; default `messages`. */
  channel?: string;
}

const optionKeys: KeysOf<LanefoldSaverOptions> = { serde: true, lane: true, channel: true };

/** Longer names of lanes leave no room for a namespace. */
const longestLane = 64;

/** `lane`: undefined for none. @throws LanefoldError `invalid_input`, `invalid_id` */
export function readOptions(options: LanefoldSaverOptions): { lane: string | undefined; channel: string } {
  refuseUnknownKeys('LanefoldSaver', options, optionKeys);
  const { lane = options.serde ? false : 'langgraph', channel = 'messages' } = options;
  if (lane === false) return { lane: undefined, channel };
  assertId(lane, 'The lane');
  if (lane.length <= longestLane) return { lane, channel };
  throw new LanefoldError('invalid_id', `The name of the lane has ${lane.length} characters.`, {
    hint: `Use at most ${longestLane}: lanes of subgraphs add their namespace to it.`,
  });
}
