// npm run -s setup:tofu: builds OpenTofu if neither it nor Terraform is there, and the provider.
import { buildProvider } from './provider.ts'
import { requireTofu } from './tofu-build.ts'

try {
  const { name, path } = await requireTofu()
  console.log(`tofu: ${name} is ${path}; the provider is in ${await buildProvider()}`)
} catch (error) {
  console.error(`tofu: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
