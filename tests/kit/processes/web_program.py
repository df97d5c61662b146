"""A program for supervisors: it serves on an inherited socket and answers each request with its process id."""

WEB = """
import http.server, os, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(str(os.getpid()).encode())
server = http.server.HTTPServer(("", 0), Handler, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=int(sys.argv[2]))
print("listening", flush=True)
server.serve_forever()
"""
