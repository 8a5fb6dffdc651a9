const roles = ["VIEWER", "MEMBER", "ADMIN", "OWNER"]

export const hasRole = (actual: string, required: string) => roles.indexOf(actual) >= roles.indexOf(required)
