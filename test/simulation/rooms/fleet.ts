import type { Equip } from '../processes/worker.ts';
import type { World } from '../world/world.ts';
import { agentsOf, deployments, type Deployment } from './agents.ts';
import { openProcess } from './process.ts';

/** The deployments of workers. */
export class Fleet {
  /** From now on workers start with all agents. */
  complete = false;

  constructor(private readonly world: World) {}

  readonly equip: Equip = (actor, queue, onError) => {
    const random = this.world.chances.of(`deployment of ${actor.name}.${actor.life}`);
    const others = Object.keys(deployments) as Deployment[];
    const deployment = this.complete || random.chance(0.4) ? 'all' : random.pick(others);
    const unknownAgentMs = this.world.chances.of('unknownAgentMs').pick([undefined, 20_000]);
    return {
      deps: openProcess(actor, queue, agentsOf(deployment), onError).worker,
      options: { onUnknownAgent: () => {}, ...(unknownAgentMs === undefined ? {} : { unknownAgentMs }) },
    };
  };
}
