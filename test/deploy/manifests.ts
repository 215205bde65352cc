import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

export const root = 'deploy/kubernetes';

/** The part of an object of Kubernetes that the tests look at. */
export interface Manifest {
  file: string;
  kind: string;
  metadata: { name: string };
  spec: { selector?: { matchLabels?: object }; template: { metadata: { labels: object }; spec: Pod } };
}

export interface Pod {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  volumes: { name: string; emptyDir?: object }[];
  containers: Container[];
}

export interface Container {
  image: string;
  command: string[];
  env?: { name: string; value: string }[];
  envFrom: { secretRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
  livenessProbe?: { httpGet: { path: string; port: string } };
  readinessProbe?: { httpGet: { path: string; port: string } };
}

const models = {
  Deployment,
  Job,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  ScaledObject,
  TriggerAuthentication,
};
/** Where each type is declared. */
const modules: Record<string, string> = {
  Deployment: 'kubernetes-models/apps/v1/Deployment',
  Job: 'kubernetes-models/batch/v1/Job',
  PodDisruptionBudget: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  Service: 'kubernetes-models/v1/Service',
  ServiceAccount: 'kubernetes-models/v1/ServiceAccount',
  ScaledObject: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject',
  TriggerAuthentication: '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication',
};

/** Every object of every file, without the lists of kustomize. */
export function readManifests(): Manifest[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  return files
    .filter((file) => path.basename(file) !== 'kustomization.yaml')
    .flatMap((file) =>
      parseAllDocuments(readFileSync(path.join(root, file), 'utf8')).map((document) => {
        if (document.errors[0]) throw document.errors[0];
        return { ...(document.toJS() as Manifest), file };
      }),
    );
}

/** What the JSON schema of its kind finds wrong with an object; undefined if nothing. */
export function schemaError({ file: _, ...manifest }: Manifest): string | undefined {
  const model = models[manifest.kind as keyof typeof models];
  if (!model) return `no schema for ${manifest.kind}`;
  try {
    new (model as new (data: object) => { validate(): void })(manifest).validate();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * What the types find wrong with the objects. The schemas allow unknown fields, which Kubernetes drops or rejects; in an
 * object literal TypeScript allows none.
 */
export function typeErrors(manifests: readonly Manifest[]): string[] {
  const name = path.resolve('manifests.ts');
  const text = manifests
    .map(({ file: _, ...manifest }, i) => {
      const type = `import('${modules[manifest.kind]}').I${manifest.kind}`;
      return `export const m${i}: ${type} = ${JSON.stringify(manifest)};\n`;
    })
    .join('');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => file === name || fileExists(file);
  host.readFile = (file) => (file === name ? text : readFile(file));
  host.getSourceFile = (file, version, ...rest) =>
    file === name ? ts.createSourceFile(file, text, version) : getSourceFile(file, version, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([name], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
