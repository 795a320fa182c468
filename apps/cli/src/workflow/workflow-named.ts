import { readFile } from 'node:fs/promises'

import { isUuid } from '@skerry/vm'

import { Failure } from '../terminal/failure.ts'
import type { WorkflowClient } from './workflow-client.ts'

export interface WorkflowEntry {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly categoryName: string
  readonly description: string
}

interface Links {
  readonly link: readonly {
    readonly attributes: readonly { readonly name: string; readonly value: string }[]
  }[]
}

/** The attributes of each link, by name. */
export const attributesOf = ({ link }: Links): Readonly<Record<string, string>>[] =>
  link.map(({ attributes }) =>
    Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
  )

const escaped = (value: string): string => value.replaceAll(/[\\,]/g, '\\$&')

export async function listWorkflows(
  client: WorkflowClient,
  condition = '',
): Promise<readonly WorkflowEntry[]> {
  const query = condition === '' ? '' : `?conditions=${encodeURIComponent(condition)}`
  const found = (await client.json('GET', `/api/workflows${query}`)) as Links
  return attributesOf(found) as unknown as WorkflowEntry[]
}

/** The id of a workflow, found by its id or its exact name. */
export async function workflowNamed(client: WorkflowClient, word: string): Promise<string> {
  if (isUuid(word.toLowerCase())) return word.toLowerCase()
  const found = await listWorkflows(client, `name=${escaped(word)}`)
  const [only, other] = found
  if (only && !other) return only.id
  if (!only) {
    throw new Failure('refused', `there is no workflow ${word}`, { hint: 'skerry workflow list' })
  }
  throw new Failure('refused', `several workflows are named ${word}`, {
    hint: `use the id: ${found.map(({ id }) => id).join(', ')}`,
  })
}

export const containing = (text: string): string => `name~${escaped(text)}`

/** The id of a run: the given one, or the newest. */
export async function executionNamed(
  client: WorkflowClient,
  workflow: string,
  word: string | undefined,
): Promise<string> {
  if (word !== undefined) return word
  const path = `/api/workflows/${workflow}/executions?maxResult=1`
  const { relations } = (await client.json('GET', path)) as { readonly relations: Links }
  const [newest] = attributesOf(relations)
  if (newest?.['id'] !== undefined) return newest['id']
  throw new Failure('refused', 'the workflow has no runs yet', {
    hint: 'skerry workflow run WORKFLOW',
  })
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
}

/** Parses NAME=VALUE by the types of the form; NAME=@FILE reads a file, for secrets that must not appear in a process list. */
export async function readInputs(
  given: readonly string[] | undefined,
  form: Schema,
): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {}
  for (const each of given ?? []) {
    const at = each.indexOf('=')
    if (at < 1) throw new Failure('usage', `--input must be NAME=VALUE, not ${each}`)
    const [name, value] = [each.slice(0, at), each.slice(at + 1)]
    const text = value.startsWith('@') ? await readWhole(value.slice(1)) : value
    found[name] = valueOf(name, text, form.properties?.[name]?.type)
  }
  return found
}

const readWhole = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Failure('refused', `${file} cannot be read`, { cause })
  })
  return text.replace(/\r?\n$/, '')
}

function valueOf(name: string, text: string, type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return Number(text)
  if (type === 'boolean') return text === 'true'
  if (type !== 'object' && type !== 'array') return text
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('usage', `${name} must be JSON`, { cause })
  }
}
