// Debian's archive: the versions of packages, and their files without installing them.
import { run } from '../lab/src/system/run.ts'

/** The candidate version of each package; a package that apt does not know is an error. */
export async function versionsOf(packages: readonly string[]): Promise<Record<string, string>> {
  const said = await run(['apt-cache', 'policy', ...packages], {
    env: { ...process.env, LC_ALL: 'C' },
  })
  const versions: Record<string, string> = {}
  for (const [, name = '', version = ''] of said.matchAll(/^(\S+):\n.*\n {2}Candidate: (\S+)$/gm)) {
    if (version !== '(none)') versions[name] = version
  }
  const unknown = packages.filter((name) => versions[name] === undefined)
  if (unknown.length > 0) {
    throw new Error(
      `apt does not find ${unknown.join(', ')}: run npm run setup as root on Debian 12`,
    )
  }
  return versions
}

/** The package with the newest kernel for virtual machines, such as linux-image-6.1.0-54-cloud-amd64. */
export async function cloudKernelPackage(): Promise<string> {
  const said = await run(['apt-cache', 'depends', 'linux-image-cloud-amd64'])
  const name = said.match(/Depends: (linux-image-\S+)/)?.[1]
  if (name === undefined)
    throw new Error('apt does not find linux-image-cloud-amd64: run npm run setup')
  return name
}

/** Unpacks packages below a directory. */
export async function unpack(packages: readonly string[], work: string): Promise<void> {
  const download = () =>
    run(['apt-get', 'download', '-q', '-o', 'Acquire::Retries=3', ...packages], { cwd: work })
  // Package lists that are some days old name versions that the archive no longer has.
  await download().catch(async () => {
    await run(['apt-get', 'update', '-q'])
    await download()
  })
  await run(['sh', '-c', 'for deb in *.deb; do dpkg-deb -x "$deb" packages; rm "$deb"; done'], {
    cwd: work,
  })
}
