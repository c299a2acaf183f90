// Keeps the secret of this studio where only pages of this port can read it, and goes on.
localStorage.setItem("studio-secret", document.querySelector("meta[name=studio-secret]").content);
location.replace("/");
