// A small cloud, and all that OpenTofu or Terraform needs to apply the examples at it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openCloudSite, type CloudSite } from './cloud-site.ts'
import { buildProvider } from './provider.ts'
import { requireTofu } from './tofu-build.ts'
import type { Site } from './workspace.ts'

const ADDRESS = 'skerry.example/skerry/skerry'

export interface OpenSite extends AsyncDisposable {
  readonly site: Site
  readonly cloudSite: CloudSite
}

export async function openSite(): Promise<OpenSite> {
  const program = await requireTofu()
  const provider = await buildProvider()
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'skerry-tofu-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const cloudSite = stack.use(await openCloudSite())
  const [config, ca] = [join(folder, 'cli.tfrc'), join(folder, 'ca.pem')]
  // With an override there is no `init`, which would ask a registry.
  const overrides = `dev_overrides { "${ADDRESS}" = "${provider}" }\n  direct {}`
  await writeFile(config, `provider_installation {\n  ${overrides}\n}\n`)
  await writeFile(ca, cloudSite.cloud.ca)
  const env = {
    TF_CLI_CONFIG_FILE: config,
    SKERRY_URL: cloudSite.cloud.cells[0]?.url,
    SKERRY_TOKEN: cloudSite.token,
    SKERRY_CA: ca,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
  }
  const all = stack.move()
  const site = { program, folder, env }
  return { site, cloudSite, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
