import type { ApiFailure } from "../../api/client.ts"

/** What keeps the service from doing something. */
export const Problems = ({ details, title }: { readonly title: string; readonly details: ApiFailure["details"] }) => (
  <div class="alert bad" role="alert">
    <p>{title}</p>
    <ul>
      {details.map(({ field, message }) => (
        <li key={field + message}>
          <code>{field}</code> {message}
        </li>
      ))}
    </ul>
  </div>
)
