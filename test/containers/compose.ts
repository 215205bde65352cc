import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The part of the compose specification that docker-compose.yml uses. */
export interface Service {
  image: string;
  user?: string;
  init?: boolean;
  read_only?: boolean;
  restart?: string;
  stop_signal?: string;
  stop_grace_period?: string;
  entrypoint?: string[];
  command?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  networks: string[];
  volumes?: string[];
  ports?: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number; start_period?: string };
}

export interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, null>;
}

/** Reads a compose file with the given variables. Digests go: an image that was built or loaded here has another one. */
export function readCompose(file: string, variables: Record<string, string>): Compose {
  const text = readFileSync(file, 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/g, '');
  return parse(text, (_, value: unknown) => (typeof value === 'string' ? substitute(value, variables) : value), {
    merge: true,
  }) as Compose;
}

function substitute(text: string, variables: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{(\w+):([-?])([^}]*)\}/g, (all, name: string, kind: string, otherwise: string) => {
    if (all === '$$') return '$';
    const value = variables[name];
    if (value) return value;
    if (kind === '?') throw new Error(`${name}: ${otherwise}`);
    return otherwise;
  });
}

/**
 * What `podman run` needs, beside `--detach` or `--rm`, to start a service as Docker Compose would. Names begin with the
 * project.
 */
export function runArguments(project: string, name: string, service: Service): string[] {
  // what the specification allows and this does not know must not go unnoticed
  const { image, user, init, read_only, restart, stop_signal, stop_grace_period, entrypoint, command, ...more } =
    service;
  const { cap_drop, security_opt, tmpfs, networks, volumes, ports, environment, healthcheck, ...rest } = more;
  const unknown = Object.keys(rest).filter((key) => !['build', 'depends_on'].includes(key));
  if (unknown.length > 0) throw new Error(`${name} sets ${unknown.join(', ')}`);
  const options: Record<string, readonly string[] | string | undefined> = {
    name: `${project}-${name}`,
    user,
    restart,
    entrypoint: entrypoint && JSON.stringify(entrypoint),
    'stop-signal': stop_signal,
    'stop-timeout': stop_grace_period?.replace(/s$/, ''),
    'cap-drop': cap_drop,
    'security-opt': security_opt?.map((option) => option.replace(/:true$/, '')),
    tmpfs,
    network: networks.map((network) => `${project}-${network}:alias=${name}`),
    volume: volumes?.map((volume) => (volume.startsWith('/') ? volume : `${project}-${volume}`)),
    publish: ports,
    env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
    'health-cmd': healthcheck && shellCommand(healthcheck.test),
    'health-timeout': healthcheck?.timeout,
  };
  return [
    `--init=${init ?? false}`,
    // Podman would make some folders of a read-only root file system writable, Docker does not
    `--read-only=${read_only ?? false}`,
    '--read-only-tmpfs=false',
    ...Object.entries(options).flatMap(([option, values = []]) =>
      [values].flat().map((value) => `--${option}=${value}`),
    ),
    image,
    ...(command ?? []),
  ];
}

/** A health check as one line for a shell: Podman 4.3 splits the list of a compose file at its spaces. */
function shellCommand([kind, ...words]: string[]): string {
  if (kind === 'CMD-SHELL') return words.join(' ');
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
