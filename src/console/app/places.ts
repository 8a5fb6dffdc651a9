/** Screens of the navigation, each with the letter that opens it after `g`. */
export const places = [
  { path: "", label: "Home", key: "h", icon: "M4 12 12 5l8 7M6.5 10v9h11v-9" },
  {
    path: "/clients",
    label: "Clients",
    key: "c",
    icon: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c0-4 3-6 7-6s7 2 7 6"
  },
  { path: "/contracts", label: "Contracts", key: "t", icon: "M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5" },
  { path: "/invoices", label: "Invoices", key: "i", icon: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6" },
  { path: "/payments", label: "Payments", key: "p", icon: "M3 7h18v11H3zM3 11h18M7 15h3" },
  { path: "/credit-notes", label: "Credit notes", key: "n", icon: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 10h6" },
  {
    path: "/integrations",
    label: "Integrations",
    key: "w",
    icon: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4"
  },
  { path: "/events", label: "Events", key: "e", icon: "M3 12h4l3-8 4 16 3-8h4" },
  {
    path: "/settings",
    label: "Settings",
    key: "s",
    icon: "M4 7h9M17 7h3M4 12h3M11 12h9M4 17h9M17 17h3M15 5v4M9 10v4M15 15v4"
  }
] as const
