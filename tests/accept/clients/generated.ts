// Clients that common generators make from the OpenAPI document of a cell, and how they run there.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { attribute } from '@skerry/xml'

import { taskOf } from '../../../apps/cloud/test/cloud-client.ts'
import { logIn, newOrganisation, runToEnd, type ClientArguments, type Place } from './place.ts'

const run = promisify(execFile)
const CREATED_MS = 180_000
/** Bodies that are not JSON: a generated function returns them without a type. */
const UNTYPED = ['GET /api/v{version}/schema/{file}', 'GET /api/vApp/{entity}/screen']

/** The document as the cell serves it. */
async function documentOf({ dir, cloud }: Place, name: string): Promise<string> {
  const file = join(dir, `${name}.json`)
  const words = ['-sS', '--fail', '--cacert', cloud.ca, '-o', file, `${cloud.url}/api/openapi.json`]
  await run('curl', words)
  return file
}

/** Generates and compiles the whole API; returns the program. */
export async function generateGo(place: Place): Promise<string> {
  const cwd = join(place.dir, 'openapi-go')
  const document = await documentOf(place, 'openapi-go')
  await cp(join(import.meta.dirname, 'openapi-go'), cwd, { recursive: true })
  await mkdir(join(cwd, 'cloud'))
  const generated = ['-config', 'oapi-codegen.yaml', '-o', 'cloud/cloud.gen.go', document]
  await run('go', ['tool', 'oapi-codegen', ...generated], { cwd })
  await run('go', ['build', '-o', 'client', '.'], { cwd })
  return join(cwd, 'client')
}

/** Generates the whole API; returns the command, which imports every generated file. */
export async function generatePython(place: Place, python: string): Promise<readonly string[]> {
  const home = join(place.dir, 'openapi-python')
  const document = await documentOf(place, 'openapi-python')
  await cp(join(import.meta.dirname, 'openapi-python'), home, { recursive: true })
  const words = ['--meta', 'none', '--output-path', join(home, 'cloud')]
  const config = ['--config', join(home, 'generator.yaml')]
  const { stdout, stderr } = await run(
    python,
    ['-m', 'openapi_python_client', 'generate', '--path', document, ...words, ...config],
    { env: { ...process.env, COLUMNS: '200' } },
  )
  const warned = [...`${stdout}${stderr}`.matchAll(/^WARNING parsing (\S+ \S+)/gm)]
  const routes = new Set(warned.map(([, route]) => route))
  assert.deepEqual(routes, new Set(UNTYPED), stdout)
  return [python, join(home, 'with-generated.py')]
}

/** Runs a client in an organisation with one VM, which is off. Returns its output. */
export async function runGenerated(
  place: Place,
  org: string,
  command: (given: ClientArguments) => readonly string[],
): Promise<string> {
  const { url, ca } = place.cloud
  const login = await newOrganisation(place, org)
  const somebody = await logIn(place.cloud, login)
  const { root } = await somebody.instantiate('web', { power: false })
  assert.equal(attribute(await somebody.ended(taskOf(root), CREATED_MS), 'status'), 'success')
  return runToEnd(command({ url, ca, login }), { SSL_CERT_FILE: ca })
}
