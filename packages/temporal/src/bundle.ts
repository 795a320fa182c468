// Bundles the workflows of a file. Bundling takes seconds of CPU time, so the bundle can be made in advance and stored beside the file.
import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

import type { DataConverter } from '@temporalio/common'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'

interface KeptBundle {
  /** The SHA-256 of every source file, by its path relative to the directory of the workflows. */
  readonly files: Readonly<Record<string, string>>
  readonly failureConverter: string | null
  readonly code: string
}

const bundles = new Map<string, Promise<string>>()

/** Returns the code, bundled at most once per process. A stored bundle is used while all source files are unchanged. Reads TypeScript. */
export async function bundleWorkflows(path: string, converter?: DataConverter): Promise<string> {
  const found = bundles.get(path) ?? findBundle(path, converter?.failureConverterPath)
  bundles.set(path, found)
  return found
}

/** Bundles the code and stores it for programs that start later. Returns false if the stored bundle was up to date. */
export async function keepBundle(path: string, converter?: DataConverter): Promise<boolean> {
  const failureConverter = converter?.failureConverterPath
  if ((await readKeptBundle(path, failureConverter)) !== undefined) return false
  const { code, from } = await makeBundle(path, failureConverter)
  const names = [...from, workerManifest()].filter((file) => isFile(file)).sort()
  const hashes = await Promise.all(
    names.map(async (file) => [relative(dirname(path), file), await hashOf(file)] as const),
  )
  const kept: KeptBundle = {
    files: Object.fromEntries(hashes),
    failureConverter: converterName(path, failureConverter),
    code,
  }
  const file = keptFile(path)
  await writeFile(`${file}.new`, JSON.stringify(kept))
  await rename(`${file}.new`, file)
  return true
}

async function findBundle(path: string, failureConverter: string | undefined): Promise<string> {
  const kept = await readKeptBundle(path, failureConverter)
  return kept ?? (await makeBundle(path, failureConverter)).code
}

/** Returns the stored code, or undefined if there is none or a source file has changed. */
export async function readKeptBundle(
  path: string,
  failureConverter: string | undefined,
): Promise<string | undefined> {
  try {
    const kept = JSON.parse(await readFile(keptFile(path), 'utf8')) as KeptBundle
    if (kept.failureConverter !== converterName(path, failureConverter)) return undefined
    const same = await Promise.all(
      Object.entries(kept.files).map(
        async ([name, hash]) => (await hashOf(join(dirname(path), name))) === hash,
      ),
    )
    return same.length > 0 && same.every(Boolean) ? kept.code : undefined
  } catch {
    // Missing or incomplete: the code is bundled again.
    return undefined
  }
}

async function makeBundle(
  path: string,
  failureConverterPath: string | undefined,
): Promise<{ readonly code: string; readonly from: readonly string[] }> {
  let from: readonly string[] = []
  const { code } = await bundleWorkflowCode({
    workflowsPath: path,
    logger: new DefaultLogger('ERROR'),
    ...(failureConverterPath !== undefined && { failureConverterPath }),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap('skerry', ({ compilation }) => {
            from = [...compilation.fileDependencies]
          }),
      ],
    }),
  })
  return { code, from }
}

const keptFile = (path: string): string => path.replace(/\.ts$/, '.bundle.json')

/** A different version of the bundler may produce different code. */
const workerManifest = (): string =>
  createRequire(import.meta.url).resolve('@temporalio/worker/package.json')

const converterName = (path: string, converter: string | undefined): string | null =>
  converter === undefined ? null : relative(dirname(path), converter)

/** The bundler lists a virtual entry that is not a file. */
const isFile = (file: string): boolean => existsSync(file) && statSync(file).isFile()

const hashOf = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
