import { request } from '../../../api/client.ts'
import { linkOf, type WebhookDocument, type WebhookTestDocument } from '../../../api/documents.ts'
import { RemovableMenu } from '../../../app/records/removable-menu.tsx'
import { notify, notifyError } from '../../../data/notifications.ts'
import { removalOf, useChange } from '../../../data/use-change.ts'

interface MenuProps {
  readonly webhook: WebhookDocument
  readonly onEdit: () => void
  readonly onShow: () => void
}

export function WebhookMenu({ webhook, onEdit, onShow }: MenuProps) {
  const { href, name, url, kind = [], isEnabled } = webhook
  const { makeChange } = useChange()
  return (
    <RemovableMenu
      name={name}
      items={[
        { text: 'Last messages', icon: 'event', onSelect: onShow },
        { text: 'Send a test message', icon: 'play', onSelect: () => void sendTest(webhook) },
        { text: 'Change', icon: 'gear', onSelect: onEdit },
        {
          text: isEnabled ? 'Disable' : 'Enable',
          icon: isEnabled ? 'close' : 'check',
          onSelect: () =>
            makeChange({
              href,
              method: 'PUT',
              body: { isEnabled: !isEnabled, url, kind },
              success: `${isEnabled ? 'Disabled' : 'Enabled'} ${name}`,
              failure: `${name} was not changed`,
            }),
        },
      ]}
      onRemove={() => makeChange(removalOf(name, href))}
    >
      <p>Its receiver gets no events any more.</p>
    </RemovableMenu>
  )
}

/** A receiver that refuses is an answer of the cloud, not an error of it. */
async function sendTest(webhook: WebhookDocument): Promise<void> {
  try {
    const { taken, message } = await request<WebhookTestDocument>(linkOf(webhook, 'test') ?? '', {
      method: 'POST',
    })
    notify({ tone: taken ? 'success' : 'error', title: `The receiver ${message}` })
  } catch (error) {
    notifyError(`${webhook.name} was not tested`, error)
  }
}
