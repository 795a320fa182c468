// A folder with a configuration and its state, and the program that applies it with the provider of this clone.
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { attempt } from '../../tools/lab/src/system/run.ts'
import { CLIENT } from './provider.ts'
import type { TofuProgram } from './tofu-build.ts'

export interface Site {
  readonly program: TofuProgram
  /** The folder of everything that is written. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

export type Variables = Readonly<Record<string, string | number | readonly string[]>>

export interface Ended {
  readonly code: number
  readonly text: string
  readonly seconds: number
}

interface StateFile {
  readonly resources: readonly {
    readonly mode: 'managed' | 'data'
    readonly type: string
    readonly name: string
    readonly instances: readonly [{ readonly attributes: Readonly<Record<string, string>> }]
  }[]
}

const CHANGES = 2

export class Workspace {
  readonly #site: Site
  readonly #folder: string

  private constructor(site: Site, folder: string) {
    this.#site = site
    this.#folder = folder
  }

  /** With an example of clients/terraform/examples, and no state. */
  static async open(site: Site, example: string): Promise<Workspace> {
    await mkdir(site.folder, { recursive: true })
    const folder = await mkdtemp(join(site.folder, `${example}-`))
    await cp(join(CLIENT, 'examples', example), folder, { recursive: true })
    return new Workspace(site, folder)
  }

  apply(variables: Variables): Promise<Ended> {
    return this.#run(['apply', '-auto-approve'], variables)
  }

  destroy(variables: Variables): Promise<Ended> {
    return this.#run(['destroy', '-auto-approve'], variables)
  }

  /** Whether the plan has differences. */
  async plan(variables: Variables): Promise<{ readonly differs: boolean; readonly ended: Ended }> {
    const ended = await this.#run(['plan', '-detailed-exitcode'], variables, [0, CHANGES])
    return { differs: ended.code === CHANGES, ended }
  }

  async import(variables: Variables, address: string, id: string): Promise<Ended> {
    return this.#run(['import'], variables, [0], [address, id])
  }

  /** The attributes of each resource by its address. `show` would start the program and the provider for it. */
  async state(): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
    const { resources } = JSON.parse(
      await readFile(join(this.#folder, 'terraform.tfstate'), 'utf8'),
    ) as StateFile
    return Object.fromEntries(
      resources.map(({ mode, type, name, instances: [only] }) => [
        `${mode === 'data' ? 'data.' : ''}${type}.${name}`,
        only.attributes,
      ]),
    )
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }

  async #run(
    words: readonly string[],
    variables: Variables,
    good: readonly number[] = [0],
    last: readonly string[] = [],
  ): Promise<Ended> {
    const given = Object.entries(variables).map(
      ([name, value]) =>
        `-var=${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
    )
    const began = performance.now()
    const command = [this.#site.program.path, ...words, '-input=false', '-no-color']
    const { code, stdout, stderr } = await attempt([...command, ...given, ...last], {
      cwd: this.#folder,
      env: { ...process.env, ...this.#site.env },
    })
    const seconds = (performance.now() - began) / 1000
    if (!good.includes(code)) {
      throw new Error(`${words.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
    }
    return { code, text: stdout, seconds }
  }
}
