import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString, type OpenAPI3, type SchemaObject } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { createApp } from '../../src/doors/app.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import type { Library } from '../../src/features/library/library.ts';

/** Where the page finds the types of the API. Written by `npm run types:api`. */
export const typesFile = path.resolve('page/api/openapi.d.ts');

/** Types of the schemas in the OpenAPI document that the application serves. */
export async function apiTypes(): Promise<string> {
  // its routes need a library only when they are called
  const library = { queues: [], queueBackend: 'postgres' } as unknown as Library;
  const { openapi, info, components } = openApiDocument(createApp(library, { onError: () => {} })) as OpenAPI3;
  const schemas = JSON.parse(JSON.stringify(components!.schemas), forTypes) as Record<string, SchemaObject>;
  const document: OpenAPI3 = { openapi, info, paths: {}, components: { schemas } };
  const types = await openapiTS(document, { transform: asJson, inject: jsonTypes, silent: true });
  return format(`${header}${astToString(types)}`, { ...(await resolveConfig(typesFile)), filepath: typesFile });
}

const header = '// Generated from the OpenAPI document: run `npm run types:api`.\n\n';

const jsonTypes = `
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
`;

/** What a schema says besides its description, as JSON. */
function constraints({ description: _, ...said }: { description?: string }): string {
  return JSON.stringify(said);
}

/** Leaves examples out, and gives a reference the description that the document has in an empty schema beside it. */
export function forTypes(key: string, value: { allOf?: object[] } | null): unknown {
  if (key === 'example') return undefined;
  const [reference, own] = value?.allOf ?? [];
  return reference && own && constraints(own) === '{}' ? { ...own, ...reference } : value;
}

/** Any JSON is what a schema without constraints stands for; it would otherwise become `unknown`. */
export function asJson(schema: SchemaObject): ts.TypeNode | undefined {
  const said = constraints(schema);
  if (said === '{}') return ts.factory.createTypeReferenceNode('Json');
  if (said === '{"type":"object","additionalProperties":true}') return ts.factory.createTypeReferenceNode('JsonObject');
  return undefined;
}

if (process.argv[1] === import.meta.filename) await writeFile(typesFile, await apiTypes());
