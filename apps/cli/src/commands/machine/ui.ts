import { command, type CliContext } from '../../command.ts'
import { openBrowser } from '../../machine/open-browser.ts'
import { path } from '../../vms/local-client.ts'

interface PageAddress {
  readonly page: string
  readonly expires?: string
}

export const ui = command({
  name: 'ui',
  usage: '',
  summary: 'open the web UI of this machine or cloud in the browser',
  examples: ['skerry ui', 'skerry ui --print'],
  next: 'skerry doctor if the page does not open',
  options: {
    print: { type: 'boolean', doc: 'print the URL instead of opening it, as --json does' },
  },
  async run(context, { options, json }) {
    const { address, expires } = await findAddress(context)
    if (json) return context.print(JSON.stringify({ address, expires }, null, 2))
    context.print(address)
    if (expires !== undefined) context.complain('the URL can be used once, within 30 seconds')
    if (options.print !== true) await openBrowser(context, address)
    return undefined
  },
})

async function findAddress({
  api,
  cloud,
}: CliContext): Promise<{ readonly address: string; readonly expires?: string | undefined }> {
  if (cloud) return { address: new URL('/ui/', cloud.profile.url).href }
  const { body } = await api.ask<PageAddress>('POST', path('ui', 'ticket'))
  return { address: api.url + body.page, expires: body.expires }
}
