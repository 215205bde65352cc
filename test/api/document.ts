/** The part of the OpenAPI document that the tests read. */
export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Omit<Operation, 'path' | 'method'>>>;
  components: { schemas: Record<string, Schema> };
}

export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  example?: unknown;
}

export interface Operation {
  path: string;
  method: string;
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: Schema }[];
  requestBody?: undefined | { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, unknown>;
}

export const operationsOf = (document: OpenApi): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      // data of any type, for a stream, is not described
      requestBody: operation.requestBody?.content['application/json'] && operation.requestBody,
      parameters: operation.parameters ?? [],
      path,
      method: method.toUpperCase(),
    })),
  );

/** Resolves a schema that is a reference. */
export const resolved = (document: OpenApi, schema: Schema): Schema =>
  schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
