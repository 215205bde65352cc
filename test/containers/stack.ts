import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { readCompose, runArguments, type Compose } from './compose.ts';
import { podman, podmanLogs, succeeds } from './podman.ts';

/** Starts the services of docker-compose.yml as containers of a project, and does to them what happens in operation. */
export class Stack {
  readonly project: string;
  readonly file: Compose;

  constructor(project: string, variables: Record<string, string>) {
    this.project = project;
    this.file = readCompose('docker-compose.yml', variables);
  }

  container = (service: string): string => `${this.project}-${service}`;

  /** Starts a service after those that it depends on, when their conditions hold. Started ones stay as they are. */
  async up(service: string): Promise<void> {
    const { depends_on = {} } = this.file.services[service]!;
    for (const [name, { condition }] of Object.entries(depends_on)) {
      await this.up(name);
      if (condition === 'service_healthy') await this.healthy(name);
      else if ((await this.exitCode(name)) !== 0) throw new Error(`${name} failed: ${await this.logs(name)}`);
    }
    if (await succeeds('container', 'exists', this.container(service))) return;
    await podman('run', '--detach', ...runArguments(this.project, service, this.file.services[service]!));
  }

  /** Runs a service once with another command, as `docker compose run --rm` does. Resolves with what it prints. */
  runOnce = (service: string, ...command: string[]): Promise<string> =>
    podman(
      'run',
      '--rm',
      ...runArguments(this.project, `${service}-once`, { ...this.file.services[service]!, command }),
    );

  async createNetworks(): Promise<void> {
    for (const [name, network] of Object.entries(this.file.networks))
      await podman('network', 'create', ...(network?.internal ? ['--internal'] : []), this.container(name));
  }

  isHealthy = (service: string): Promise<boolean> => succeeds('healthcheck', 'run', this.container(service));

  healthy = (service: string) => this.#untilHealth(service, true);

  unhealthy = (service: string) => this.#untilHealth(service, false);

  /** Asks again after a second: each check starts processes, which delay what is starting. */
  #untilHealth(service: string, wanted: boolean): Promise<boolean> {
    return until(`${service} is ${wanted ? 'healthy' : 'unhealthy'}`, async () => {
      if ((await this.isHealthy(service)) === wanted) return true;
      await delay(1_000);
      return false;
    });
  }

  exitCode = async (service: string): Promise<number> => Number(await podman('wait', this.container(service)));

  /** Both streams, because errors go to the second. */
  logs = (service: string): Promise<string> => podmanLogs(this.container(service));

  /** Runs a command in the container of a service. */
  exec = (service: string, ...command: string[]): Promise<string> =>
    podman('exec', this.container(service), ...command);

  /** What `podman inspect` shows under a path, such as `State.Pid`. */
  inspect = (service: string, format: string): Promise<string> =>
    podman('inspect', `--format={{.${format}}}`, this.container(service));

  /** Kills the first process of a container, as a lack of memory would; the restart policy starts it again. */
  async kill(service: string): Promise<void> {
    const pid = Number(await this.inspect(service, 'State.Pid'));
    process.kill(pid, 'SIGKILL');
    await until(`${service} has been started again`, async () => {
      const [status, now] = (await this.inspect(service, 'State.Status}} {{.State.Pid')).split(' ');
      return status === 'running' && Number(now) !== pid;
    });
  }

  /** SIGTERM, or what the image wants instead, and SIGKILL after the grace period. Resolves with the exit code. */
  async stop(service: string): Promise<number> {
    await podman('stop', this.container(service));
    return Number(await this.inspect(service, 'State.ExitCode'));
  }

  start = (service: string): Promise<string> => podman('start', this.container(service));

  remove = (service: string): Promise<boolean> => succeeds('rm', '--force', '--time=0', this.container(service));

  async removeAll(): Promise<void> {
    for (const service of Object.keys(this.file.services).reverse()) await this.remove(service);
    for (const volume of Object.keys(this.file.volumes)) await succeeds('volume', 'rm', this.container(volume));
    for (const network of Object.keys(this.file.networks)) await succeeds('network', 'rm', this.container(network));
  }
}
