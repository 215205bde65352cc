import type { z } from 'zod';
import type { Principal, Scope } from '../access/principal.ts';
import type { ErrorCode } from '../errors.ts';

type Fields = Record<string, z.ZodType>;

/**
 * An operation of the library and of the HTTP API. From its declaration come the method's type and checks, the route, the
 * OpenAPI document, what a key may do, and the flags of a command. A method takes `(...params, body?, options?)`.
 */
export interface Operation {
  /** Its `operationId`. */
  id: string;
  /** Method and path, such as `PUT /v1/webhooks/{name}`. The parameters are the first arguments of the method. */
  route: `${'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'} /v1/${string}`;
  /** The scope that a key needs; default `admin`. */
  scope?: Scope;
  summary: string;
  description?: string;
  /** What the library says of its method, if not the same. */
  doc?: string;
  /** Parameters of the path that are not just ids. */
  params?: Fields;
  query?: Fields;
  /** The body: an argument of the method before its options, or with `bodyIs: 'options'` more options. */
  body?: z.ZodType;
  bodyIs?: 'options';
  /** Options that the library takes and no request sets, such as who acts. */
  own?: Fields;
  /** What it answers with; without a schema 204, and a list as the `data` of an object. */
  answer: { status?: 200 | 201 | 202; description: string; schema?: z.ZodType };
  /** Errors beside those of every operation. */
  errors?: readonly ErrorCode[];
  /** What a caller sees of an answer. */
  show?: (answer: never, principal: Principal) => unknown;
}

/** The operations on one thing, under the names of their methods. */
export interface Noun<Part extends string = string, Name extends string = string> {
  /** Where the library has them. */
  part: Part;
  /** Their group in the API reference. */
  tag: string;
  operations: Record<Name, Operation>;
}

/** Declares the operations on one thing. `npm run types:api` writes their types, and those of the module's schemas. */
export const noun = <const Part extends string, const Name extends string>(
  part: Part,
  tag: string,
  operations: Record<Name, Operation>,
): Noun<Part, Name> => ({ part, tag, operations });

/** The names of the parameters in a path. */
export const paramsOf = (route: string): string[] => [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);

/** Every option that the method takes, with its schema. */
export const optionsOf = ({ query, body, bodyIs, own }: Operation): Fields =>
  ({
    ...query,
    ...(bodyIs === 'options' ? (body as z.ZodObject).shape : {}),
    ...own,
  }) as Fields;
