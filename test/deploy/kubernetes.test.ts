// @module-tag slow
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readManifests, root, schemaError, typeErrors, type Manifest } from './manifests.ts';

const manifests = readManifests();
const withPods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
const named = (kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)!;
const container = (manifest: Manifest) => manifest.spec.template.spec.containers[0]!;
const deployments = () => [named('Deployment', 'lanefold-api'), named('Deployment', 'lanefold-worker')];

test.each(manifests)('$kind $metadata.name in $file follows the schema of its kind', (manifest) => {
  expect(schemaError(manifest)).toBeUndefined();
});

test('no object has a field that its kind does not know', () => {
  expect(typeErrors(manifests)).toEqual([]);
});

test('a misspelt field and a wrong value are found', () => {
  const worker = named('Deployment', 'lanefold-worker');
  const wrong = structuredClone(worker) as Manifest & { spec: { replicas: unknown } };
  wrong.spec.replicas = 'two';
  expect(schemaError(wrong)).toContain('/spec/replicas must be integer');
  const misspelt = structuredClone(worker);
  Object.assign(container(misspelt).securityContext, { readOnlyRootFileSystem: true });
  expect(typeErrors([misspelt]).join()).toContain('readOnlyRootFileSystem');
});

describe.each(withPods)('the pods of $metadata.name', ({ spec: { template, selector }, kind }) => {
  const pod = template.spec;
  test('have no rights, and no token', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.containers.map(({ securityContext }) => securityContext)).toEqual([
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    ]);
  });
  test('can write to /tmp alone', () => {
    expect(pod.containers[0]!.volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
    expect(pod.volumes).toMatchObject([{ name: 'tmp', emptyDir: {} }]);
  });
  test('name the image that kustomize replaces, and take secrets by reference', () => {
    const folder = kind === 'Job' ? path.join(root, 'migrate') : root;
    const { images } = parse(readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8')) as {
      images: { name: string }[];
    };
    expect(images.map(({ name }) => name)).toEqual([pod.containers[0]!.image]);
    expect(pod.containers[0]!.envFrom.map(({ secretRef }) => secretRef.name)).toEqual([
      kind === 'Job' ? 'lanefold-migrator' : 'lanefold',
    ]);
  });
  test('are those that the selector finds', () => {
    if (kind === 'Deployment') expect(template.metadata.labels).toMatchObject(selector!.matchLabels!);
  });
});

test('every variable is documented', () => {
  const page = readFileSync('docs/reference/settings.md', 'utf8');
  for (const manifest of deployments())
    for (const { name } of container(manifest).env!) expect(page, name).toContain(`\`${name}\``);
});

test('probes ask the port that the process listens on', () => {
  for (const [manifest, variable] of [
    [named('Deployment', 'lanefold-api'), 'LANEFOLD_PORT'],
    [named('Deployment', 'lanefold-worker'), 'LANEFOLD_HEALTH_PORT'],
  ] as const) {
    const { env, ports, livenessProbe, readinessProbe } = container(manifest);
    const [port] = ports!;
    expect(String(port!.containerPort)).toBe(env!.find(({ name }) => name === variable)!.value);
    expect([livenessProbe!.httpGet.port, readinessProbe!.httpGet.port]).toEqual([port!.name, port!.name]);
    expect(readinessProbe!.httpGet.path).toBe('/readyz');
  }
});

test('a worker has more time to stop than it gives its runs', () => {
  const { spec } = named('Deployment', 'lanefold-worker');
  const grace = container(named('Deployment', 'lanefold-worker')).env!.find(
    ({ name }) => name === 'LANEFOLD_STOP_GRACE_MS',
  )!;
  expect(spec.template.spec.terminationGracePeriodSeconds! * 1000).toBeGreaterThan(Number(grace.value) + 5_000);
});

test('budgets, the service and the scaling find their pods', () => {
  for (const manifest of deployments()) {
    const { name } = manifest.metadata;
    expect(named('PodDisruptionBudget', name).spec.selector).toEqual(manifest.spec.selector);
  }
  const service = named('Service', 'lanefold-api').spec as unknown as { selector: object };
  expect(service.selector).toEqual(named('Deployment', 'lanefold-api').spec.selector!.matchLabels);
  expect(named('ScaledObject', 'lanefold-worker').spec).toMatchObject({ scaleTargetRef: { name: 'lanefold-worker' } });
});
